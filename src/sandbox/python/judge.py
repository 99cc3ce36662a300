"""Runs HumanEval's test code in its own sandbox. The candidate it calls is a proxy: the program runs in another.

Only plain data comes back from the program, so it cannot reach the tests through its objects, its builtins or its exit.
"""

import builtins
import json
import os
import select
import time

import plain_data
import program

LARGEST_ANSWER = 5 << 20


class Judged(BaseException):
    """The candidate can no longer answer. Not an Exception, so that no test catches it by accident."""


# These end loops: a test such as all(map(candidate, inputs)) would stop early and pass.
ENDS_OF_LOOPS = (StopIteration, StopAsyncIteration)


class Candidate:
    def __init__(self, name, seconds):
        self.__name__ = name
        self.raised = None
        self.is_judged = False
        self.is_ready = False
        # The program's wall-clock time is the time its tests wait for it.
        self.seconds_left = seconds
        self.arrival = select.poll()
        self.arrival.register(program.DOWN, select.POLLIN)

    def __call__(self, *positional, **named):
        try:
            reply = json.loads(self.ask(plain_data.dumps((positional, named))))
            if "value" in reply:
                return plain_data.decode(reply["value"], 0)
            self.raised = as_exception(reply)
        except MemoryError:
            raise
        except Exception as problem:
            # The program can write anything, not only messages with plain data.
            self.raised = Judged(str(problem))
        self.is_judged = self.is_judged or isinstance(self.raised, Judged)
        raise self.raised

    def get_ready(self):
        """From here on the tests may see data of the program, so they can no longer declare the task broken."""
        if not self.is_ready:
            self.is_ready = True
            program.send(b'{"ready":true}')

    def ask(self, call):
        self.get_ready()
        if self.arrival.poll(0) and self.read():
            raise ValueError("an answer before the call")
        try:
            program.send(call, program.DOWN)
        except OSError:
            os._exit(0)
        until = time.monotonic() + self.seconds_left
        data, end = b"", program.LENGTH.size
        while len(data) < end:
            self.seconds_left = until - time.monotonic()
            if self.seconds_left <= 0 or not self.arrival.poll(self.seconds_left * 1000):
                finish({"verdict": "timeout"})
            data += self.read()
            if len(data) >= program.LENGTH.size:
                end = program.LENGTH.size + program.LENGTH.unpack_from(data)[0]
            if end > LARGEST_ANSWER or len(data) > end:
                raise ValueError("too much for an answer")
        self.seconds_left = until - time.monotonic()
        return data[program.LENGTH.size:]

    def read(self):
        """Reads what has arrived. If the program ends, its tests end too, without a verdict."""
        try:
            return os.read(program.DOWN, 65536) or os._exit(0)
        except OSError:
            os._exit(0)


def as_exception(reply):
    """The nearest built-in class of what the program raised, so that a test may expect it."""
    for name in reply["types"] if reply["failed"] == "exception" else ():
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            if issubclass(kind, ENDS_OF_LOOPS):
                break
            try:
                return kind(reply["text"])
            except TypeError:
                continue
    return Judged(reply["text"])


def run_check(case):
    def run():
        candidate = Candidate(case["entry"], case["answerSeconds"])
        namespace = {"__name__": "tests"}
        try:
            program.run_preamble(case["preamble"], case["entry"], namespace)
        except BaseException as problem:
            finish({"broken": f"The prompt does not run: {type(problem).__name__}: {problem}"})
        try:
            # Some tests call the function by its name.
            namespace[case["entry"]] = candidate
            exec(compile(case["test"], "<tests>", "exec", dont_inherit=True), namespace)
            check = namespace["check"]
        except BaseException as problem:
            # Test code may call the function while it loads.
            if candidate.is_ready:
                finish({"verdict": verdict_on(problem, candidate)})
            finish({"broken": f"The test code does not run: {type(problem).__name__}: {problem}"})
        candidate.get_ready()
        try:
            check(candidate)
        except BaseException as problem:
            finish({"verdict": verdict_on(problem, candidate)})
        # Even if the tests caught it: without this answer they have not seen a correct program.
        finish({"verdict": "runtime_error" if candidate.is_judged else "passed"})

    return run


def verdict_on(problem, candidate):
    if isinstance(problem, MemoryError):
        return "memory_limit"
    # A failed assertion inside the program is an exception like any other.
    if isinstance(problem, AssertionError) and problem is not candidate.raised:
        return "failed_tests"
    return "runtime_error"


def finish(message):
    program.send(json.dumps(message).encode())
    program.leave(0)
