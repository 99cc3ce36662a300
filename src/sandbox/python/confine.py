"""What a forked case does to itself before the first line of a program: limits, then the filter of system calls."""

import ctypes
import os
import resource
import struct

LIBC = ctypes.CDLL(None, use_errno=True)
# Looked up here, before the first fork, so that the first program finds the same memory as all others.
UNSHARE, SETNS = LIBC.unshare, LIBC.setns
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
CLONE_NEWPID = 0x20000000
CAPABILITY_VERSION = 0x20080522
SECCOMP_MODE_FILTER = 2
MEBIBYTE = 1 << 20


class SockFprog(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def checked(result, name):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def prctl(option, first, second=0):
    checked(LIBC.prctl(option, ctypes.c_ulong(first), ctypes.c_void_p(second), 0, 0), f"prctl({option})")


def hide():
    """No other process of this user may look into this one."""
    prctl(PR_SET_DUMPABLE, 0)


def give_next_fork_numbers_of_its_own():
    """The next fork is process 1 of a new namespace, and sees no other."""
    checked(UNSHARE(CLONE_NEWPID), "unshare")


def take_numbers_of(process):
    """Forks get the numbers again that the process of this descriptor has."""
    checked(SETNS(process, CLONE_NEWPID), "setns")


def drop_capabilities():
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    checked(LIBC.capset(header, (ctypes.c_uint32 * 6)()), "capset")


def set_limits(memory_bytes, cpu_seconds):
    # RLIMIT_CPU counts in ticks and from the fork on, so it is only a backstop for the runner's own clock.
    backstop = int(cpu_seconds) + 2
    for limit, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, backstop),
        # bubblewrap, the runner, the watcher, and some 30 threads.
        (resource.RLIMIT_NPROC, 33),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_FSIZE, 8 * MEBIBYTE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, 128),
    ):
        resource.setrlimit(limit, (value, value))


def install_filter(code, pid_slots):
    """Adds the filter per case. Each instruction in `pid_slots` compares with the number of this process."""
    program = bytearray(code)
    for index in pid_slots:
        struct.pack_into("<I", program, index * 8 + 4, os.getpid())
    buffer = (ctypes.c_char * len(program)).from_buffer(program)
    fprog = SockFprog(len(program) // 8, ctypes.addressof(buffer))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(fprog))
