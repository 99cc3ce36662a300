"""One case: a program in its own process, seen from the runner that watches it.

A program can reach only its side of five pipes, and of the line by which tests call it. The report descriptor and the
nonce of the case were never in its process.
"""

import json
import os
import select
import signal
import time

import frames
import program
import zygote

LARGEST_MESSAGE = 5 << 20
SHORTEST_WAIT = 0.002
CORES = len(os.sched_getaffinity(0))


class Case:
    def __init__(self, nonce, payload):
        """The payload is one line for us; the rest goes to the program's process unread."""
        ours, self.work = payload.split(b"\n", 1)
        spec = json.loads(ours)
        self.nonce = nonce
        self.limits = spec["limits"]
        self.role = spec["role"]
        self.stdin = spec["stdin"].encode("utf-8", "surrogatepass")
        self.captured = {"stdout": bytearray(), "stderr": bytearray()}
        self.upstream = bytearray()
        # What the process may still send to the supervisor.
        self.messages_left = spec["messages"]
        # Pipes that are full at the moment.
        self.full = set()
        self.end = None
        self.ready = False
        # Once tests may call the program, they count its wall-clock time.
        self.wall_runs = True
        self.cpu_base = 0.0

    def run(self, processes, link, inbox):
        # Each pipe as (read end, write end); the first two carry data to the program, the others from it.
        pipes = [os.pipe() for _ in range(5)]
        (input_end, self.input_end), (down_end, self.down_end), *(from_program) = pipes
        (out, out_end), (err, err_end), (up, up_end) = from_program
        ends = [input_end, out_end, err_end, up_end, down_end]
        if self.role != "alone":
            ends.append(link.send() if self.role == "judge" else link.receive())
        self.pid = processes.start(ends)
        self.outbox = {self.down_end: bytearray(program.LENGTH.pack(len(self.work)) + self.work),
                       self.input_end: bytearray(self.stdin)}
        self.readers = {out: "stdout", err: "stderr", up: "up"}
        self.since = time.monotonic()
        self.poll = select.poll()
        for descriptor in (processes.fileno(), frames.COMMANDS, *self.readers):
            self.poll.register(descriptor, select.POLLIN)
        for descriptor in (*self.outbox, *self.readers):
            os.set_blocking(descriptor, False)
        for descriptor in (self.down_end, self.input_end):
            self.flush(descriptor)
        gone = self.watch(processes.fileno(), inbox)
        if not gone:
            self.kill()
        last = processes.farewell()
        wall = self.wall()
        # The program has ended and nobody else holds the other ends, so nothing more can come.
        for descriptor in list(self.readers):
            while descriptor in self.readers and self.read(descriptor):
                pass
        for descriptor in (*self.readers, *self.outbox):
            os.close(descriptor)
        self.report(last, wall)

    def watch(self, farewell, inbox):
        """Serves the pipes until the process has ended (True) or must be ended (False)."""
        # A command may have arrived together with the case.
        self.obey(inbox)
        self.look_at_clocks()
        while self.end is None:
            gone = False
            for descriptor, _ in self.poll.poll(max(0.0, self.next_look - time.monotonic()) * 1000):
                if descriptor == farewell:
                    gone = True
                elif descriptor == frames.COMMANDS:
                    if not inbox.feed():
                        os._exit(0)
                    self.obey(inbox)
                elif descriptor in self.readers:
                    self.read(descriptor)
                elif descriptor in self.outbox:
                    self.flush(descriptor)
            # For an ended process wait4 reports what it used; clocks are checked only while it runs.
            if gone:
                return True
            if self.end is None and time.monotonic() >= self.next_look:
                self.look_at_clocks()
        return False

    def kill(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def look_at_clocks(self):
        """Ends a process at its limit, or plans the next look for when it could reach one on all cores."""
        cpu_left = self.limits["cpuSeconds"] - self.cpu()
        wall_left = self.limits["wallSeconds"] - self.wall()
        if cpu_left <= 0:
            self.end = "cpu"
        elif wall_left <= 0:
            self.end = "wall"
        earliest = min(cpu_left / CORES, wall_left)
        self.next_look = time.monotonic() + max(SHORTEST_WAIT, earliest)

    def cpu(self):
        # The clock of another process with all its threads: see clock_getcpuclockid(3).
        try:
            return time.clock_gettime((~self.pid << 3) | 2) - self.cpu_base
        except OSError:
            return 0.0

    def wall(self):
        return time.monotonic() - self.since if self.wall_runs else 0.0

    def obey(self, inbox):
        while (frame := inbox.take()) is not None:
            nonce, kind, payload = frame
            if nonce != self.nonce or kind != b"S" or payload:
                raise SystemExit("a command for somebody else")
            self.end = "stopped"

    def flush(self, descriptor):
        """Writes as much as the pipe takes. If the program does not read, or closed its end, that is its own affair."""
        pending = self.outbox[descriptor]
        try:
            while pending:
                del pending[:os.write(descriptor, pending[:65536])]
        except BlockingIOError:
            self.poll.register(descriptor, select.POLLOUT)
            self.full.add(descriptor)
            return
        except OSError:
            pending.clear()
        if descriptor in self.full:
            self.poll.unregister(descriptor)
            self.full.remove(descriptor)
        if descriptor == self.input_end:
            del self.outbox[descriptor]
            os.close(descriptor)
            # Another descriptor may get this number.
            self.input_end = None

    def read(self, descriptor):
        """Reads one chunk; False if there is none yet."""
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
            # Both share one limit.
            room = self.limits["outputBytes"] - sum(map(len, self.captured.values()))
            self.captured[name] += chunk[:room]
            if len(chunk) > room and self.end in (None, "stopped"):
                self.end = "output"
        return True

    def relay(self):
        """Passes on whole messages of the program, unread: reading them is the supervisor's job."""
        if not self.ready:
            if len(self.upstream) < zygote.SETUP.size:
                return
            # Written before the program starts, so that set-up is not counted as the program's time.
            cpu, wall = zygote.SETUP.unpack_from(self.upstream)
            del self.upstream[:zygote.SETUP.size]
            self.cpu_base, self.since = cpu / 1e9, wall / 1e9
            self.ready = True
        while len(self.upstream) >= program.LENGTH.size and self.end is None:
            (length,) = program.LENGTH.unpack_from(self.upstream)
            end = program.LENGTH.size + length
            if length > LARGEST_MESSAGE or not self.messages_left:
                self.end = "malformed"
                return
            if len(self.upstream) < end:
                return
            message = bytes(self.upstream[program.LENGTH.size:end])
            del self.upstream[:end]
            self.messages_left -= 1
            self.wall_runs = self.role != "judged"
            frames.send(self.nonce, b"U", message)

    def report(self, last, wall):
        status, cpu = last.status, last.cpu - self.cpu_base
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
            "peakBytes": last.peak_kibibytes * 1024,
            "stdoutBytes": len(out),
        }
        frames.send(self.nonce, b"E", json.dumps(facts).encode() + b"\n" + out + err)
