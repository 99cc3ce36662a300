"""The process that programs are forked from. It holds the interpreter and the modules they need, and nothing else.

It receives nothing from the runner. One fork at a time waits for its descriptors, and reads its case from one of them.
The zygote tells the runner how the fork ended, straight from the kernel's structure, which it wipes before the next
fork. So each program finds the same memory, whatever ran before it. Each fork is the first process of its own
namespace, so it cannot see how many came before it.
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

# The modules that programs import most and that load quickly, and those needed to run them and show their errors.
PRELOAD = ("bisect", "collections", "copy", "functools", "heapq", "itertools", "linecache", "math", "re",
           "string", "traceback", "typing")
# Standard input, output and error, messages up and down; if tests call the program, the line between them.
ENDS, MOST_ENDS = 5, 6
SETUP = struct.Struct(">qq")
FIRST_OF_OURS = 60
# A sandbox is either for programs or for judges, for its whole life.
MODES = {
    "programs": {
        "script": program.run_script,
        "compile": program.check_syntax,
        "function": program.serve_function,
    },
    "judges": {"judge": judge.run_check},
}


class Farewell(ctypes.Structure):
    """What wait4 reports: the status and the struct rusage, two times and fourteen counts."""

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
        """Readable once the process has ended."""
        return self._channel.fileno()

    def is_there(self):
        """Whether a process waits for a program. Its number shows whether an earlier program made threads; the next
        program could see that too, so this sandbox is then closed."""
        poll = select.poll()
        poll.register(self, 0)
        # Even with no events requested, poll reports a closed end.
        if poll.poll(0):
            return False
        number, _ = self._next()
        return self._number is None or number == self._number + 1

    def start(self, ends):
        """Sends a program's descriptors to the waiting process, and returns its number."""
        while not self._hand_over(ends):
            # It was killed while it waited; by now there is another.
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
        """The waiting process: its number, taken from the kernel, and the line to it."""
        if self._waiting is None:
            _, (descriptor,) = lines.receive_descriptors(self._channel, 1)
            line = _socket.socket(fileno=descriptor)
            # Who sent it, according to the kernel: process, user and group.
            _, (number, _, _) = lines.receive_descriptors(line, 1, 3)
            self._waiting = number, line
        return self._waiting

    def farewell(self):
        """Waits until the process has ended, and returns how."""
        answer = self._channel.recv(ctypes.sizeof(Farewell), _socket.MSG_WAITALL)
        if len(answer) != ctypes.sizeof(Farewell):
            raise SystemExit("the zygote is gone")
        return Farewell.from_buffer_copy(answer)


def serve(channel, boot):
    """Keeps a fork ready until the runner closes. Returns only in such a fork, with what it has to run."""
    for name in PRELOAD:
        __import__(name)
    modes = MODES[boot["serves"]]
    case_filter = confine.Filter(bytes.fromhex(boot["filter"]))
    # Made before the first fork, like everything that stays, so that the first program sees what all others see.
    wait4, last = confine.LIBC.wait4, Farewell()
    status, usage = ctypes.byref(last), ctypes.byref(last, Farewell.user.offset)
    myself = os.pidfd_open(os.getpid())
    channel, myself = keep_numbers_for_programs(channel, myself)
    program.prepare()
    confine.set_lasting_limits()
    # The less there is, the less each fork has to copy.
    gc.collect()
    confine.LIBC.malloc_trim(0)
    gc.freeze()
    while True:
        # A new line per fork, so that what a killed fork has not read reaches no other.
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
    """Moves our own descriptors away, and puts pipes where programs will have theirs."""
    channel, myself = out_of_the_way(channel), os.dup2(myself, FIRST_OF_OURS + 1)
    os.closerange(3, FIRST_OF_OURS)
    reading, writing = os.pipe()
    os.dup2(reading, 0)
    for target in range(1, ENDS):
        # Standard error stays, so that errors during set-up are seen.
        if target != 2:
            os.dup2(writing, target)
    return channel, myself


def out_of_the_way(line):
    """The same connection under a number that no program uses."""
    number = line.detach()
    os.dup2(number, FIRST_OF_OURS)
    os.close(number)
    return _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, FIRST_OF_OURS)


def become(line, modes, case_filter):
    """In the fork: gives up everything a program must not have, then becomes the program."""
    confine.drop_capabilities()
    confine.hide()
    # The kernel adds our process number, as the runner sees it.
    line.send(b"H")
    # Verdicts must be reproducible: each case has a fresh generator with the same seed in every run.
    random.seed(0)
    last = local_pairs.provide()
    _, given = lines.receive_descriptors(line, 1, MOST_ENDS)
    line.close()
    for target, end in enumerate(given[:ENDS]):
        os.dup2(end, target, inheritable=True)
    spec = json.loads(program.receive())
    for end in given[ENDS:]:
        # The case has been read; from now on calls arrive on the line, which takes the place of the case's pipe.
        os.dup2(end, program.DOWN, inheritable=True)
    os.closerange(last + 1, 256)
    run = modes[spec["mode"]](spec)
    confine.set_limits(spec["limits"]["memoryBytes"], spec["limits"]["cpuSeconds"])
    case_filter.install()
    frames.write_all(program.UP, SETUP.pack(time.process_time_ns(), time.monotonic_ns()))
    run()
