"""The process that programs are forked from. It knows the interpreter, the modules they need, and nothing else.

It gets nothing from the runner. One fork at a time waits, ahead of its case, for five pipe ends and reads the case from
one of them. To the runner it tells the fork's number and how the fork ended, straight from the kernel's structure, which
is wiped before the next one. So each program finds the same memory, whatever ran before it.
"""

import ctypes
import gc
import json
import os
import random
import struct
import time

import _socket
import confine
import frames
import judge
import program

# What programs import most, and import quickly, and what it takes to run them and to show their errors.
PRELOAD = ("ast", "bisect", "collections", "copy", "functools", "heapq", "itertools", "linecache", "math", "re",
           "string", "traceback", "typing")
# In the order of a program's descriptors: standard input, output, errors, and messages up and down.
ENDS = struct.Struct("5i")
PID = struct.Struct("i")
SETUP = struct.Struct(">qq")
# A sandbox is for programs or for their judges, from its start to its end.
MODES = {
    "programs": {
        "script": program.run_script,
        "compile": program.check_syntax,
        "function": program.serve_function,
    },
    "judges": {"judge": judge.run_check},
}


class Farewell(ctypes.Structure):
    """What wait4 tells of a process: its status and its struct rusage, two times and fourteen counts."""

    _fields_ = [("status", ctypes.c_int), ("user", ctypes.c_long * 2), ("system", ctypes.c_long * 2),
                ("peak_kibibytes", ctypes.c_long), ("counts", ctypes.c_long * 13)]

    @property
    def cpu(self):
        return self.user[0] + self.system[0] + (self.user[1] + self.system[1]) / 1e6


def request(channel, ends):
    """For the runner: gives these pipe ends to the process that waits for them, and says its number."""
    channel.sendmsg([b"F"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, ENDS.pack(*ends))])
    for end in ends:
        os.close(end)
    answer = channel.recv(PID.size, _socket.MSG_WAITALL)
    if len(answer) != PID.size:
        raise SystemExit("the zygote is gone")
    return PID.unpack(answer)[0]


def farewell(channel):
    """For the runner: how the process ended, as soon as it has."""
    answer = channel.recv(ctypes.sizeof(Farewell), _socket.MSG_WAITALL)
    if len(answer) != ctypes.sizeof(Farewell):
        raise SystemExit("the zygote is gone")
    return Farewell.from_buffer_copy(answer)


def serve(channel, boot):
    """Has a fork ready until the runner hangs up. Returns only in such a fork: what that has to run."""
    for name in PRELOAD:
        __import__(name)
    boot["filter"] = bytes.fromhex(boot["filter"])
    last = Farewell()
    gc.freeze()
    while True:
        pid = os.fork()
        if pid == 0:
            return lambda: become(channel, boot)
        channel.sendall(PID.pack(pid))
        usage = ctypes.byref(last, Farewell.user.offset)
        if confine.LIBC.wait4(pid, ctypes.byref(last), 0, usage) != pid:
            os._exit(1)
        channel.sendall(last)
        ctypes.memset(ctypes.byref(last), 0, ctypes.sizeof(last))


def become(channel, boot):
    """In the fork: gives up everything a program must not have, then turns into the program."""
    confine.hide()
    # A reproducible verdict: the generator is a fresh one in each case, but the same in every run.
    random.seed(0)
    asked, ancillary, _, _ = channel.recvmsg(1, _socket.CMSG_SPACE(ENDS.size))
    if not asked:
        os._exit(0)
    channel.close()
    ends = ENDS.unpack(ancillary[0][2])
    # Moved out of the way first: a target number may be one of the sources.
    for target, source in enumerate([os.dup2(end, 40 + index) for index, end in enumerate(ends)]):
        os.dup2(source, target, inheritable=True)
    os.closerange(program.DOWN + 1, 256)
    program.prepare()
    spec = program.receive()
    run = MODES[boot["serves"]][spec["mode"]](spec)
    confine.set_limits(spec["limits"]["memoryBytes"], spec["limits"]["cpuSeconds"])
    confine.install_filter(boot["filter"], boot["pidSlots"])
    frames.write_all(program.UP, SETUP.pack(time.process_time_ns(), time.monotonic_ns()))
    run()
