"""The process that programs are forked from. It knows the interpreter, the modules they need, and nothing else.

It gets nothing from the runner. One fork at a time waits, ahead of its case, for its descriptors and reads the case from
one of them. To the runner it tells how the fork ended, straight from the kernel's structure, which is wiped before the
next one. So each program finds the same memory, whatever ran before it. Each fork is the first process of a namespace of
its own: it cannot see how many there were before it.
"""

import ctypes
import gc
import json
import os
import random
import select
import struct
import time

import _socket
import confine
import frames
import judge
import lines
import local_pairs
import program

# What programs import most, and import quickly, and what it takes to run them and to show their errors.
PRELOAD = ("bisect", "collections", "copy", "functools", "heapq", "itertools", "linecache", "math", "re",
           "string", "traceback", "typing")
# Standard input, output, errors, messages up and down; where tests call a program, the line between them.
ENDS, MOST_ENDS = 5, 6
SETUP = struct.Struct(">qq")
FIRST_OF_OURS = 60
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


class Zygote:
    """The runner's side of it."""

    def __init__(self, channel):
        self._channel = channel
        self._waiting = None
        self._number = None

    def fileno(self):
        """Readable when the process has gone."""
        return self._channel.fileno()

    def is_there(self):
        """Whether a process waits for a program. Its number tells whether an earlier one has made threads: then it could
        leave a number behind, and this sandbox is over."""
        poll = select.poll()
        poll.register(self, 0)
        # Without any event asked for, poll still reports a hang-up.
        if poll.poll(0):
            return False
        number, _ = self._next()
        return self._number is None or number == self._number + 1

    def start(self, ends):
        """Gives a program's ends to the process that waits for them, and returns its number."""
        while not self._hand_over(ends):
            # It was killed while it waited, and by now there is another.
            self.farewell()
        for end in ends:
            os.close(end)
        return self._number

    def _hand_over(self, ends):
        self._number, line = self._next()
        self._waiting = None
        try:
            lines.send_descriptors(line, b"F", ends)
            return True
        except ConnectionError:
            return False
        finally:
            line.close()

    def _next(self):
        """The process that waits: its number, which only the kernel can tell, and the line to it."""
        if self._waiting is None:
            _, (descriptor,) = lines.receive_descriptors(self._channel, 1)
            line = _socket.socket(fileno=descriptor)
            # The kernel's word for who has sent it: process, user and group.
            _, (number, _, _) = lines.receive_descriptors(line, 1, 3)
            self._waiting = number, line
        return self._waiting

    def farewell(self):
        """How the process ended, as soon as it has."""
        answer = self._channel.recv(ctypes.sizeof(Farewell), _socket.MSG_WAITALL)
        if len(answer) != ctypes.sizeof(Farewell):
            raise SystemExit("the zygote is gone")
        return Farewell.from_buffer_copy(answer)


def serve(channel, boot):
    """Has a fork ready until the runner hangs up. Returns only in such a fork: what that has to run."""
    for name in PRELOAD:
        __import__(name)
    modes = MODES[boot["serves"]]
    case_filter = confine.Filter(bytes.fromhex(boot["filter"]))
    # Made before the first fork, as is everything that stays: the first program sees what all others see, and does not
    # have to make it itself.
    wait4, last = confine.LIBC.wait4, Farewell()
    status, usage = ctypes.byref(last), ctypes.byref(last, Farewell.user.offset)
    myself = os.pidfd_open(os.getpid())
    channel, myself = keep_numbers_for_programs(channel, myself)
    program.prepare()
    confine.set_lasting_limits()
    # The less there is, the less has to be copied for each fork.
    gc.collect()
    confine.LIBC.malloc_trim(0)
    gc.freeze()
    while True:
        # A line of its own per fork: what one that is killed early has not read reaches no other.
        line, its_line = _socket.socketpair()
        line.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
        confine.give_next_fork_numbers_of_its_own()
        if os.fork() == 0:
            channel.close()
            os.close(myself)
            line.close()
            return lambda: become(out_of_the_way(its_line), modes, case_filter)
        confine.take_numbers_of(myself)
        its_line.close()
        lines.send_descriptors(channel, b"L", [line.fileno()])
        line.close()
        if wait4(-1, status, 0, usage) <= 0:
            os._exit(1)
        channel.sendall(last)
        ctypes.memset(status, 0, ctypes.sizeof(last))


def keep_numbers_for_programs(channel, myself):
    """Moves our own descriptors out of the way, and puts pipes where programs will have theirs."""
    channel, myself = out_of_the_way(channel), os.dup2(myself, FIRST_OF_OURS + 1)
    os.closerange(3, FIRST_OF_OURS)
    reading, writing = os.pipe()
    os.dup2(reading, 0)
    for target in range(1, ENDS):
        # What goes wrong here is still to be heard.
        if target != 2:
            os.dup2(writing, target)
    return channel, myself


def out_of_the_way(line):
    """The same connection with a number that no program needs."""
    number = line.detach()
    os.dup2(number, FIRST_OF_OURS)
    os.close(number)
    return _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, FIRST_OF_OURS)


def become(line, modes, case_filter):
    """In the fork: gives up everything a program must not have, then turns into the program."""
    confine.drop_capabilities()
    confine.hide()
    # The kernel adds our process number, as the runner sees it.
    line.send(b"H")
    # A reproducible verdict: the generator is a fresh one in each case, but the same in every run.
    random.seed(0)
    last = local_pairs.provide()
    _, given = lines.receive_descriptors(line, 1, MOST_ENDS)
    line.close()
    for target, end in enumerate(given[:ENDS]):
        os.dup2(end, target, inheritable=True)
    spec = json.loads(program.receive())
    for end in given[ENDS:]:
        # The case has been read: calls come by the line from now on, in the place of its pipe.
        os.dup2(end, program.DOWN, inheritable=True)
    os.closerange(last + 1, 256)
    run = modes[spec["mode"]](spec)
    confine.set_limits(spec["limits"]["memoryBytes"], spec["limits"]["cpuSeconds"])
    case_filter.install()
    frames.write_all(program.UP, SETUP.pack(time.process_time_ns(), time.monotonic_ns()))
    run()
