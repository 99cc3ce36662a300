"""What a forked case does to itself before the program starts: limits, then the filter of system calls."""

import ctypes
import os
import resource

LIBC = ctypes.CDLL(None, use_errno=True)
# Looked up before the first fork, so that every program finds the same memory.
UNSHARE, SETNS, PRCTL = LIBC.unshare, LIBC.setns, LIBC.prctl
PRCTL.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
CLONE_NEWPID = 0x20000000
CAPABILITY_VERSION = 0x20080522
SECCOMP_MODE_FILTER = 2
MEBIBYTE = 1 << 20
MOST_DESCRIPTORS = 64
CAPABILITY_HEADER = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
NO_CAPABILITIES = (ctypes.c_uint32 * 6)()


class SockFprog(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def checked(result, name):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def prctl(option, first, second=0):
    checked(PRCTL(option, first, second, 0, 0), "prctl")


def hide():
    """Stops other processes of this user from inspecting this one."""
    prctl(PR_SET_DUMPABLE, 0)


def give_next_fork_numbers_of_its_own():
    """Makes the next fork process 1 of a new namespace, where it sees no other process."""
    checked(UNSHARE(CLONE_NEWPID), "unshare")


def take_numbers_of(process):
    """Returns to the namespace of this descriptor's process, so that forks get its numbers again."""
    checked(SETNS(process, CLONE_NEWPID), "setns")


def drop_capabilities():
    checked(LIBC.capset(CAPABILITY_HEADER, NO_CAPABILITIES), "capset")


def set_lasting_limits():
    """The limits that are the same for all programs, which inherit them."""
    for limit, value in (
        (resource.RLIMIT_NOFILE, MOST_DESCRIPTORS),
        (resource.RLIMIT_FSIZE, 8 * MEBIBYTE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, 128),
    ):
        resource.setrlimit(limit, (value, value))


def set_limits(memory_bytes, cpu_seconds):
    # RLIMIT_CPU counts in ticks and from the fork on, so it is only a backstop for the runner's own clock.
    backstop = int(cpu_seconds) + 2
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (backstop, backstop))
    # bubblewrap, the runner, the zygote, and some 30 threads.
    resource.setrlimit(resource.RLIMIT_NPROC, (33, 33))


class Filter:
    """The filter per case, in the kernel's layout."""

    def __init__(self, code):
        self._code = ctypes.create_string_buffer(code, len(code))
        self._program = SockFprog(len(code) // 8, ctypes.addressof(self._code))
        self._address = ctypes.addressof(self._program)

    def install(self):
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, self._address)
