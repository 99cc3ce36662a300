"""HumanEval's test code, run in a sandbox of its own. The candidate it calls is a proxy: the program runs elsewhere.

Only plain data comes back from the program, so its objects, its builtins and its exit are out of reach of the tests.
"""

import builtins
import json
import os

import plain_data
import program

# Comes after the five descriptors that every process has.
LINE = 5


class Judged(BaseException):
    """The candidate cannot answer any more. Not an Exception, so that no test catches it by accident."""


# Loops take these for their end: a test such as all(map(candidate, inputs)) would stop early and pass.
ENDS_OF_LOOPS = (StopIteration, StopAsyncIteration)


class Candidate:
    def __init__(self, name):
        self.__name__ = name
        self.raised = None
        self.is_judged = False

    def __call__(self, *positional, **named):
        program.send(plain_data.dumps((positional, named)), program.DOWN)
        try:
            reply = json.loads(program.receive())
            if "value" in reply:
                return plain_data.decode(reply["value"], 0)
            self.raised = as_exception(reply)
        except MemoryError:
            raise
        except Exception as problem:
            # The program can write what it likes: no message of ours, or no plain data.
            self.raised = Judged(str(problem))
        self.is_judged = self.is_judged or isinstance(self.raised, Judged)
        raise self.raised


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
    # The case has been read: from now on the line to the program takes the place of its pipe.
    os.dup2(LINE, program.DOWN)
    os.close(LINE)

    def run():
        candidate = Candidate(case["entry"])
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
            finish({"broken": f"The test code does not run: {type(problem).__name__}: {problem}"})
        # From here on the tests see data of the program, and can no longer say that the task is broken.
        program.send(b'{"ready":true}')
        try:
            check(candidate)
        except BaseException as problem:
            finish({"verdict": verdict_on(problem, candidate)})
        # Whatever caught it: tests without this answer have not seen a right program.
        finish({"verdict": "runtime_error" if candidate.is_judged else "passed"})

    return run


def verdict_on(problem, candidate):
    if isinstance(problem, MemoryError):
        return "memory_limit"
    # An assertion of the program's own is an exception like any other.
    if isinstance(problem, AssertionError) and problem is not candidate.raised:
        return "failed_tests"
    return "runtime_error"


def finish(message):
    program.send(json.dumps(message).encode())
    program.leave(0)
