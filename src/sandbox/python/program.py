"""What a case does with a program: run it as a script, only compile it, or serve calls of one of its functions.

Each mode takes the case and returns the function that does the untrusted part. Nothing here is a secret or decides
anything: the program shares this interpreter and may change all of it.
"""

import atexit
import gc
import json
import os
import site
import struct
import sys
import types

import plain_data

UP, DOWN = 3, 4
LENGTH = struct.Struct(">I")
FILE = "<program>"
LONGEST_TEXT = 2000
LARGEST_VALUE = 4 << 20
TOO_LARGE = b'{"value":["o","too large"]}'
# Made in advance: when it is needed, there is no memory left to make it.
OUT_OF_MEMORY = b'{"failed":"exception","types":["MemoryError"],"name":"MemoryError","text":""}'


def send(payload, descriptor=UP):
    data = LENGTH.pack(len(payload)) + payload
    while data:
        data = data[os.write(descriptor, data):]


def receive():
    """The next message, as bytes. Ends this process if the other side has closed."""
    data = read_some(LENGTH.size + 65536)
    while len(data) < LENGTH.size:
        data += read_some(LENGTH.size - len(data))
    end = LENGTH.size + LENGTH.unpack_from(data)[0]
    while len(data) < end:
        data += read_some(end - len(data))
    return data[LENGTH.size:end]


def read_some(most):
    chunk = os.read(DOWN, most)
    if not chunk:
        os._exit(0)
    return chunk


def prepare():
    """Sets up the interpreter as if it had been started for the program, with its descriptors and none of ours."""
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stderr = sys.__stderr__ = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
    site.setquit()
    for ours in ("case", "confine", "frames", "judge", "lines", "local_pairs", "plain_data", "program", "zygote"):
        del sys.modules[ours]


def run_script(case):
    module = new_module("__main__")
    sys.argv = ["program.py"]

    def run():
        status = 0
        try:
            exec(compiled(case["source"]), module.__dict__)
        except SystemExit as leaving:
            status = exit_status(leaving.code)
        except BaseException as problem:
            send(failure(problem, case["source"]))
            status = 1
        say_farewell(module, status)

    return run


def check_syntax(case):
    def run():
        compiled(case["source"])
        send(b'{"compiled":true}')
        os._exit(0)

    return run


def serve_function(case):
    """With `arguments`, makes one call; without, serves the tests' calls until they close."""
    module = new_module("solution")
    lines = case.get("arguments")

    def run():
        try:
            # Python may refuse what is JSON elsewhere, such as an integer of 5,000 digits.
            arguments = None if lines is None else [json.loads(line) for line in lines]
            # A program that starts with the given code needs no second copy of it.
            pieces = [piece for piece in case["preamble"] if not case["source"].startswith(piece)]
            run_preamble(pieces, case.get("placeholder"), module.__dict__)
            exec(compiled(case["source"]), module.__dict__)
            function = entry_point(module, case)
        except BaseException as problem:
            send(failure(problem, case["source"]))
            leave(1)
        if arguments is not None:
            answer(function, arguments, {}, case["source"], UP)
            leave(0)
        send(b'{"loaded":true}')
        while True:
            positional, named = plain_data.loads(receive())
            answer(function, positional, named, case["source"], DOWN)

    return run


def new_module(name):
    module = types.ModuleType(name)
    sys.modules[name] = module
    return module


def compiled(source):
    """The program's code, compiled on its own. A program that does not compile ends here, as a syntax error."""
    try:
        return compile(source, FILE, "exec", dont_inherit=True)
    except BaseException as problem:
        # Null bytes, lone surrogates and too deep nesting raise other errors, but are not programs either.
        tell(problem, source)
        send(json.dumps({"failed": "syntax", **description(problem)}).encode())
        leave(1)


def run_preamble(pieces, placeholder, namespace):
    """Runs the code a task provides: imports, constants and helpers, but not the requested function."""
    for source in pieces:
        before = dict(namespace)
        try:
            exec(source, namespace)
            namespace.pop(placeholder, None)
        except Exception:
            if placeholder is None:
                raise
            namespace.clear()
            namespace.update(before)
            exec(without(placeholder, source), namespace)


def without(placeholder, source):
    """The code without the requested function, which may be a bare signature or use undefined names."""
    import ast
    try:
        tree = ast.parse(source)
    except SyntaxError:
        tree = ast.parse(source.rstrip() + "\n    pass\n")
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    tree.body = [node for node in tree.body if not (isinstance(node, definitions) and node.name == placeholder)]
    return compile(tree, "<task>", "exec", dont_inherit=True)


def entry_point(module, case):
    name = case["entry"]
    owner = getattr(module, "Solution", None) if case["method"] else None
    function = getattr(module, name, None) if owner is None else getattr(owner(), name)
    if function is None:
        raise NameError(f"the program does not define {name}")
    if not callable(function):
        raise TypeError(f"{name} is not callable")
    return function


def answer(function, positional, named, source, descriptor):
    try:
        value = b'{"value":' + plain_data.dumps(function(*positional, **named)) + b"}"
        send(value if len(value) <= LARGEST_VALUE else TOO_LARGE, descriptor)
    except BaseException as problem:
        send(failure(problem, source), descriptor)
        if isinstance(problem, SystemExit):
            leave(1)


def failure(problem, source):
    if isinstance(problem, MemoryError):
        # The traceback's frames still hold what filled the memory.
        problem.__traceback__ = None
        sys.stderr.write("MemoryError\n")
        return OUT_OF_MEMORY
    tell(problem, source)
    kind = "exit" if isinstance(problem, SystemExit) else "exception"
    return json.dumps({"failed": kind, **description(problem)}).encode()


def tell(problem, source):
    """The traceback as Python prints it, starting at the program's own code."""
    if isinstance(problem, SystemExit):
        return
    try:
        import linecache
        import traceback
        linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
        trace = problem.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != FILE:
            trace = trace.tb_next
        sys.stderr.write("".join(traceback.format_exception(type(problem), problem, trace)))
    except BaseException:
        sys.stderr.write("the traceback could not be shown\n")


def description(problem):
    kinds = [kind.__name__ for kind in type(problem).__mro__ if kind.__module__ == "builtins"]
    try:
        text = str(problem)[:LONGEST_TEXT]
    except BaseException:
        text = ""
    return {"types": kinds, "name": type(problem).__name__, "text": text}


def exit_status(code):
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    sys.stderr.write(f"{code}\n")
    return 1


def say_farewell(module, status):
    """Ends as the interpreter would, as far as a script can tell, in a quarter of the time: waits for threads, runs
    exit handlers, and drops the script's objects so that its files are flushed."""
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    atexit._run_exitfuncs()
    flush()
    module.__dict__.clear()
    gc.collect()
    leave(status)


def leave(status):
    """Ends without the interpreter's shutdown, so that no exit handler can delay or change it."""
    flush()
    os._exit(status)


def flush():
    for stream in (sys.stdout, sys.__stdout__, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
