"""One case: a process of its own for one program, seen from the runner that forks and watches it.

What a program can reach is only its own side of five pipes; the report descriptor is closed in the fork, and its nonce
wiped.
"""

import json
import os
import random
import select
import signal
import struct
import time

import confine
import frames
import judge
import program

LARGEST_MESSAGE = 5 << 20
SHORTEST_WAIT = 0.002
CORES = len(os.sched_getaffinity(0))
SETUP = struct.Struct(">qq")
MODES = {
    "script": program.run_script,
    "compile": program.check_syntax,
    "function": program.serve_function,
    "judge": judge.run_check,
}


class Case:
    def __init__(self, nonce, spec):
        self.nonce = nonce
        self.spec = spec
        self.limits = spec["limits"]
        self.dialogue = spec["dialogue"]
        self.captured = {"stdout": bytearray(), "stderr": bytearray()}
        self.upstream = bytearray()
        self.messages = 0
        self.end = None
        self.ready = False
        self.owing = True
        self.wall_before = 0.0

    def fork(self):
        # Each pipe as (read end, write end); the first two carry data to the program, the others from it.
        self.pipes = [os.pipe() for _ in range(5)]
        self.pid = os.fork()
        if self.pid != 0:
            (input_end, _), (down_end, _), (_, out_end), (_, err_end), (_, up_end) = self.pipes
            for descriptor in (input_end, down_end, out_end, err_end, up_end):
                os.close(descriptor)
        return self.pid

    def become(self, filter_code, pid_slots):
        """In the fork: gives up everything a program must not have, then turns into the program."""
        self.nonce[:] = bytes(len(self.nonce))
        descriptors = (self.pipes[0][0], self.pipes[2][1], self.pipes[3][1], self.pipes[4][1], self.pipes[1][0])
        # Moved out of the way first: a target number may be one of the sources.
        for target, source in enumerate([os.dup2(d, 40 + n) for n, d in enumerate(descriptors)]):
            os.dup2(source, target, inheritable=True)
        os.closerange(program.DOWN + 1, 256)
        confine.hide()
        # A reproducible verdict: the generator is a fresh one in each case, but the same in every run.
        random.seed(0)
        program.prepare()
        run = MODES[self.spec["mode"]](self.spec)
        confine.set_limits(self.limits["memoryBytes"], self.limits["cpuSeconds"])
        confine.install_filter(filter_code, pid_slots)
        frames.write_all(program.UP, SETUP.pack(time.process_time_ns(), time.monotonic_ns()))
        run()

    def watch(self, inbox):
        (_, input_end), (_, down_end), (out_end, _), (err_end, _), (up_end, _) = self.pipes
        self.outbox = {input_end: bytearray(self.spec["stdin"].encode("utf-8", "surrogatepass")), down_end: bytearray()}
        self.input_end, self.down_end = input_end, down_end
        self.readers = {out_end: "stdout", err_end: "stderr", up_end: "up"}
        self.since = time.monotonic()
        self.cpu_base = 0.0
        self.poll = select.poll()
        pidfd = os.pidfd_open(self.pid)
        for descriptor in (pidfd, 0, *self.readers):
            self.poll.register(descriptor, select.POLLIN)
        for descriptor in (input_end, *self.readers, down_end):
            os.set_blocking(descriptor, False)
        self.flush(input_end)

        ended = False
        while not ended and self.end is None:
            for descriptor, _ in self.poll.poll(self.patience() * 1000):
                if descriptor == pidfd:
                    ended = True
                elif descriptor == 0:
                    self.obey(inbox)
                elif descriptor in self.readers:
                    self.read(descriptor)
                elif descriptor in self.outbox:
                    self.flush(descriptor)
            # A process that is gone has used what wait4 says; only a live one is to be stopped.
            if not ended and self.end is None:
                self.check_clocks()
        if not ended:
            os.kill(self.pid, signal.SIGKILL)
        _, status, usage = os.wait4(self.pid, 0)
        wall = self.wall()
        # Nobody else holds the other ends, so what is in the pipes now is all there will ever be.
        for descriptor in list(self.readers):
            while descriptor in self.readers and self.read(descriptor):
                pass
        for descriptor in (pidfd, *self.readers, *self.outbox):
            os.close(descriptor)
        self.report(status, usage, wall)

    def patience(self):
        """Seconds until a limit can be reached at the earliest, all cores taken."""
        cpu_left = (self.limits["cpuSeconds"] - self.cpu()) / CORES
        wall_left = self.limits["wallSeconds"] - self.wall() if self.owing else cpu_left
        return max(SHORTEST_WAIT, min(cpu_left, wall_left))

    def cpu(self):
        # The clock of another process, all threads: see clock_getcpuclockid(3).
        try:
            return time.clock_gettime((~self.pid << 3) | 2) - self.cpu_base
        except OSError:
            return 0.0

    def wall(self):
        return self.wall_before + (time.monotonic() - self.since if self.owing else 0.0)

    def check_clocks(self):
        if self.cpu() >= self.limits["cpuSeconds"]:
            self.end = "cpu"
        elif self.wall() >= self.limits["wallSeconds"]:
            self.end = "wall"

    def obey(self, inbox):
        if not inbox.feed():
            os.kill(self.pid, signal.SIGKILL)
            os._exit(0)
        while (frame := inbox.take()) is not None:
            nonce, kind, payload = frame
            if nonce != self.nonce:
                continue
            if kind == b"S":
                self.end = "stopped"
            elif kind == b"D" and not self.owing:
                self.owing = True
                self.since = time.monotonic()
                self.outbox[self.down_end] += program.LENGTH.pack(len(payload)) + payload
                self.flush(self.down_end)

    def flush(self, descriptor):
        """Writes what the pipe takes. The program may not read, or may have closed its end: neither is our problem."""
        pending = self.outbox[descriptor]
        try:
            while pending:
                del pending[:os.write(descriptor, pending[:65536])]
        except BlockingIOError:
            self.poll.register(descriptor, select.POLLOUT)
            return
        except OSError:
            pending.clear()
        try:
            self.poll.unregister(descriptor)
        except KeyError:
            pass
        if descriptor == self.input_end:
            del self.outbox[descriptor]
            os.close(descriptor)

    def read(self, descriptor):
        """Takes one chunk; False when there is none now."""
        try:
            chunk = os.read(descriptor, 65536)
        except BlockingIOError:
            return False
        if not chunk:
            self.poll.unregister(descriptor)
            del self.readers[descriptor]
            os.close(descriptor)
            return False
        name = self.readers[descriptor]
        if name == "up":
            self.upstream += chunk
            self.relay()
        else:
            captured = self.captured[name]
            room = self.limits["outputBytes"] - len(captured)
            captured += chunk[:room]
            if name == "stdout" and len(chunk) > room and self.end in (None, "stopped"):
                self.end = "output"
        return True

    def relay(self):
        """Passes whole messages of the program on. They are not looked into: that is the supervisor's part."""
        if not self.ready:
            if len(self.upstream) < SETUP.size:
                return
            # Written before any line of the program: what set-up cost is not the program's.
            cpu, wall = SETUP.unpack_from(self.upstream)
            del self.upstream[:SETUP.size]
            self.cpu_base, self.since = cpu / 1e9, wall / 1e9
            self.ready = True
        while len(self.upstream) >= program.LENGTH.size and self.end is None:
            (length,) = program.LENGTH.unpack_from(self.upstream)
            if length > LARGEST_MESSAGE or not self.owing or (self.messages and not self.dialogue):
                self.end = "malformed"
                return
            if len(self.upstream) < program.LENGTH.size + length:
                return
            payload = bytes(self.upstream[program.LENGTH.size:program.LENGTH.size + length])
            del self.upstream[:program.LENGTH.size + length]
            self.messages += 1
            if self.dialogue:
                self.wall_before, self.owing = self.wall(), False
            frames.send(self.nonce, b"U", payload)

    def report(self, status, usage, wall):
        cpu = usage.ru_utime + usage.ru_stime - self.cpu_base
        end = self.end
        if end in (None, "stopped") and cpu > self.limits["cpuSeconds"]:
            end = "cpu"
        if end in (None, "stopped") and wall > self.limits["wallSeconds"]:
            end = "wall"
        if end is None and self.upstream:
            end = "malformed"
        if end is None:
            end = "signal" if os.WIFSIGNALED(status) else "exit"
        out, err = self.captured["stdout"], self.captured["stderr"]
        facts = {
            "end": end,
            "code": os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status),
            "ready": self.ready,
            "cpuSeconds": max(cpu, 0.0),
            "wallSeconds": max(wall, 0.0),
            "peakBytes": usage.ru_maxrss * 1024,
            "stdoutBytes": len(out),
        }
        frames.send(self.nonce, b"E", json.dumps(facts).encode() + b"\n" + out + err)
