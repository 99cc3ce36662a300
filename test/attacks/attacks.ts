// Programs that try to escape, persist, or exceed their share, and the required outcome of each. Never run
// them outside the sandbox: some of them stop a machine.
import type { CaseReport } from '../../src/sandbox/case.ts'
import { type Limits, paperLimits } from '../../src/sandbox/limits.ts'

/** Time limits no honest program reaches, however busy the machine. The others are the paper's. */
export const patientLimits: Limits = { ...paperLimits, cpuSeconds: 60, wallSeconds: 600 }

export interface Attack {
  readonly name: string
  readonly source: string
  /** `time`: either of the two time limits; which one depends on how busy the machine is. */
  readonly end: CaseReport['end'] | 'time'
  /** The exact output. */
  readonly prints?: string
  readonly tmp?: 'writable'
  readonly only?: 'x64'
}

/** Python that prints the error of each statement, or `done`. */
function tries(statements: readonly string[], prelude = ''): string {
  return `${prelude}
def attempt(text):
    try:
        exec(text, globals())
        return "done"
    except BaseException as problem:
        return type(problem).__name__
for text in ${JSON.stringify(statements)}:
    print(attempt(text))
`
}

function lines(...words: string[]): string {
  return words.map((word) => `${word}\n`).join('')
}

const callKernel = `
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def call(*numbers):
    ctypes.set_errno(0)
    result = libc.syscall(*[ctypes.c_long(n) for n in numbers])
    print("allowed" if result >= 0 else errno.errorcode[ctypes.get_errno()])
`

export const attacks: readonly Attack[] = [
  {
    name: 'new processes',
    source: tries(
      [
        'os.fork()',
        'os.forkpty()',
        'os.posix_spawn(sys.executable, ["python3"], {})',
        'subprocess.run([sys.executable, "-c", "pass"], check=True)',
        'os.execv(sys.executable, ["python3"])',
        'os.system("true") and 1 / 0',
      ],
      'import os, subprocess, sys',
    ),
    end: 'exit',
    prints: lines(
      'BlockingIOError',
      'FileNotFoundError',
      'BlockingIOError',
      'PermissionError',
      'PermissionError',
      'ZeroDivisionError',
    ),
  },
  {
    name: 'a daemon by setsid and double fork',
    source: `
import os, time
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
try:
    daemon()
except OSError as problem:
    print(type(problem).__name__)
`,
    end: 'exit',
    prints: 'BlockingIOError\n',
  },
  {
    name: 'a fork bomb',
    source: `
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
`,
    end: 'time',
  },
  {
    name: 'new processes, straight from the kernel',
    source: `${callKernel}
call(57), call(58), call(56, 17), call(435, 0, 0), call(59, 0, 0, 0), call(322, 0, 0, 0, 0, 0)`,
    end: 'exit',
    prints: lines('EAGAIN', 'EAGAIN', 'EAGAIN', 'ENOSYS', 'EPERM', 'EPERM'),
    only: 'x64',
  },
  {
    name: 'kernel calls that reach out of a process',
    source: `${callKernel}
for number in (101, 310, 311, 438, 312, 272, 308, 165, 161, 321, 298, 323, 250, 248, 319, 447, 29, 68, 64, 240, 300, 294, 227, 169, 154, 135):
    call(number, 0, 0, 0, 0, 0)
call(425, 1, 0), call(467, 0)`,
    end: 'exit',
    prints: lines(...Array(26).fill('EPERM'), 'ENOSYS', 'ENOSYS'),
    only: 'x64',
  },
  {
    name: 'calls of the x32 architecture',
    source: `${callKernel}
call(0x40000000 + 39), call(0x40000000 + 521, 0, 0, 0)`,
    end: 'exit',
    prints: lines('ENOSYS', 'ENOSYS'),
    only: 'x64',
  },
  {
    name: 'a call of the 32-bit architecture, in machine code',
    source: `
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")  # mov eax, 20; int 0x80; ret
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
print("allowed")
`,
    end: 'signal',
    prints: '',
    only: 'x64',
  },
  {
    name: 'signals to others',
    source: tries(
      [
        'os.kill(os.getppid(), 9)',
        'os.kill(1, 9)',
        'os.kill(-1, 9)',
        'os.kill(0, 9)',
        'os.killpg(os.getpgid(0), 9)',
        'os.pidfd_open(os.getppid())',
        'fcntl.fcntl(pair[0], fcntl.F_SETOWN, os.getppid())',
        'fcntl.fcntl(pair[0], fcntl.F_SETSIG, 9)',
        'os.kill(os.getpid(), 0)',
      ],
      'import fcntl, os, socket\npair = socket.socketpair()',
    ),
    end: 'exit',
    prints: lines(...Array(8).fill('PermissionError'), 'done'),
  },
  {
    // At its hard CPU limit the kernel kills a process with signal 9, like a machine out of memory.
    name: 'being killed by a limit of its own',
    source: tries(
      [
        'resource.setrlimit(resource.RLIMIT_CPU, (0, 0))',
        'resource.setrlimit(resource.RLIMIT_CPU, (1, 1))',
        'resource.prlimit(0, resource.RLIMIT_CPU, (1, 1))',
        'resource.getrlimit(resource.RLIMIT_CPU)',
        '[n * n for n in range(100_000)]',
      ],
      'import resource',
    ),
    end: 'exit',
    prints: lines('ValueError', 'ValueError', 'PermissionError', 'done', 'done'),
  },
  {
    name: 'limits and priorities of the runner',
    source: tries(
      [
        'resource.prlimit(2, resource.RLIMIT_CPU, (1, 1))',
        'resource.prlimit(3, resource.RLIMIT_AS)',
        'os.setpriority(os.PRIO_USER, 0, 19)',
        'os.sched_setaffinity(2, {0})',
        'resource.setrlimit(resource.RLIMIT_AS, (-1, -1))',
        'resource.setrlimit(resource.RLIMIT_CPU, (60, 60))',
        'resource.getrlimit(resource.RLIMIT_AS)',
      ],
      'import os, resource',
    ),
    end: 'exit',
    prints: lines(...Array(4).fill('PermissionError'), 'ValueError', 'ValueError', 'done'),
  },
  {
    name: 'becoming root',
    source: tries(
      ['os.setuid(0)', 'os.setgid(0)', 'os.setgroups([0])', 'os.chroot("/")'],
      'import os\nprint(os.getuid())',
    ),
    end: 'exit',
    prints: lines('65534', 'OSError', 'OSError', 'PermissionError', 'PermissionError'),
  },
  {
    name: 'the process table',
    source: 'import os\nprint(os.path.exists("/proc"), os.path.exists("/sys"), os.getpid(), os.getppid())',
    end: 'exit',
    prints: 'False False 1 0\n',
  },
  {
    name: 'the environment',
    source: 'import os\nprint(sorted(name for name in os.environ if name != "LC_CTYPE"))',
    end: 'exit',
    prints: "['HOME', 'LANG', 'MALLOC_ARENA_MAX', 'PATH', 'PWD', 'PYTHONHASHSEED']\n",
  },
  {
    name: 'files of the host',
    source: `${tries(['open("/etc/passwd")', 'open("/etc/shadow")', 'os.listdir("/root")', 'os.listdir("/home")', 'open("/dev/mem")', 'os.listdir("/sys")'], 'import os')}
print(sorted(os.listdir("/")), os.listdir("/tmp"), os.listdir("/run"))`,
    end: 'exit',
    prints: `${lines(...Array(6).fill('FileNotFoundError'))}['dev', 'lib', 'lib64', 'run', 'tmp', 'usr'] [] ['runner']\n`,
  },
  {
    name: 'writing anywhere',
    source: `
import os
written = []
for root, folders, files in os.walk("/"):
    path = os.path.join(root, "escape.txt")
    try:
        with open(path, "w") as file:
            file.write("x")
        written.append(path)
    except OSError:
        pass
    if root.count("/") > 3:
        folders[:] = []
print(written)
`,
    end: 'exit',
    prints: '[]\n',
  },
  {
    name: 'writing to /dev/shm',
    source: tries(
      ['open("/dev/shm/x", "wb")', 'shared_memory.SharedMemory(create=True, size=1 << 20)'],
      'from multiprocessing import shared_memory',
    ),
    end: 'exit',
    prints: lines('FileNotFoundError', 'FileNotFoundError'),
  },
  {
    name: 'more than 16 MiB in /tmp',
    tmp: 'writable',
    source: `
total = 0
try:
    for number in range(100):
        with open(f"/tmp/{number}", "wb") as file:
            file.write(bytes(1 << 20))
        total += 1
except OSError:
    print(total < 17)
`,
    end: 'exit',
    prints: 'True\n',
  },
  {
    name: 'a file of more than 8 MiB',
    tmp: 'writable',
    source: tries(['open("/tmp/large", "wb").write(bytes(9 << 20))']),
    end: 'exit',
    prints: 'OSError\n',
  },
  {
    name: 'very many files',
    tmp: 'writable',
    source: `
number = 0
while True:
    open(f"/tmp/{number}", "w").close()
    number += 1
`,
    end: 'time',
  },
  {
    name: 'other people’s descriptors',
    source: `
import os
held = []
for number in range(256):
    try:
        os.fstat(number)
        held.append(number)
    except OSError:
        pass
print(held)
`,
    end: 'exit',
    // Its five pipes, and three socket pairs for asyncio.
    prints: '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n',
  },
  {
    name: 'a forged report on every descriptor',
    source: `
import json, os, struct
report = json.dumps({"end": "exit", "code": 0, "ready": True, "cpuSeconds": 0, "wallSeconds": 0, "peakBytes": 0, "stdoutBytes": 2}).encode() + b"\\n42"
for number in range(3, 64):
    for nonce in (bytes(16), b"\\xff" * 16, os.urandom(16)):
        try:
            os.write(number, nonce + b"E" + struct.pack(">I", len(report)) + report)
        except OSError:
            break
os._exit(0)
`,
    end: 'malformed',
    prints: '',
  },
  {
    name: 'sockets',
    source: tries(
      [
        'socket.socket(socket.AF_INET)',
        'socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)',
        'socket.socket(socket.AF_UNIX)',
        'socket.socket(40, socket.SOCK_STREAM)',
        'socket.socket(16, socket.SOCK_RAW)',
        'socket.create_connection(("127.0.0.1", 80), timeout=1)',
        'socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)',
        'socket.socketpair()',
      ],
      'import socket',
    ),
    end: 'exit',
    prints: lines(...Array(7).fill('PermissionError'), 'done'),
  },
  {
    name: 'memory by one block',
    source: tries(['bytes(1 << 30)', 'bytearray(300 << 20)', 'mmap.mmap(-1, 300 << 20)'], 'import mmap'),
    end: 'exit',
    prints: lines('MemoryError', 'MemoryError', 'OSError'),
  },
  {
    name: 'memory by many small objects',
    source: `
held = []
while True:
    held.append(bytearray(1000))
`,
    end: 'exit',
    prints: '',
  },
  {
    name: 'memory by shared mappings and sockets',
    source: `
import mmap, socket
held = []
for make in (
    lambda: held.append(mmap.mmap(-1, 8 << 20)) or held[-1].write(bytes(8 << 20)),
    lambda: held.append(socket.socketpair()) or held[-1][1].setblocking(False) or held[-1][1].send(bytes(1 << 20)),
):
    try:
        for _ in range(100):
            make()
    except (MemoryError, OSError, ValueError) as problem:
        pass
print("still here")
`,
    end: 'exit',
    prints: 'still here\n',
  },
  {
    name: 'more threads than are allowed',
    source: `
import threading, time
threading.stack_size(1 << 16)
started = 0
try:
    for _ in range(60):
        threading.Thread(target=time.sleep, args=(0.3,)).start()
        started += 1
except RuntimeError:
    print(started < 32)
`,
    end: 'exit',
    prints: 'True\n',
  },
  {
    name: 'processor time by several threads',
    source: `
import hashlib, threading
def burn():
    while True:
        hashlib.pbkdf2_hmac("sha512", b"x", b"y", 100_000)
for _ in range(4):
    threading.Thread(target=burn).start()
`,
    end: 'time',
  },
  {
    name: 'an endless loop that catches everything',
    source: `
import signal
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
`,
    end: 'time',
  },
  { name: 'sleep', source: 'import time\ntime.sleep(60)', end: 'wall' },
  { name: 'stopping itself', source: 'import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)', end: 'exit' },
  {
    name: 'a thread that outlives the script',
    source: 'import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()',
    end: 'wall',
  },
  {
    name: 'an exit handler that does not return',
    source: 'import atexit, time\natexit.register(time.sleep, 60)\nprint(1)',
    end: 'wall',
  },
  { name: 'a flood of output', source: 'while True:\n    print("spam" * 1000)', end: 'output' },
  {
    name: 'one byte too much output',
    source: 'import sys\nsys.stdout.write("a" * 65537)',
    end: 'output',
    prints: 'a'.repeat(65536),
  },
  {
    name: 'just enough output on both streams',
    source: 'import os\nos.write(1, b"a" * 32768)\nos.write(2, b"b" * 32768)',
    end: 'exit',
    prints: 'a'.repeat(32768),
  },
  {
    name: 'one byte too much on both streams',
    source: 'import os\nos.write(1, b"a" * 32768)\nos.write(2, b"b" * 32769)',
    end: 'output',
  },
  {
    name: 'a flood of errors',
    source: 'import sys\nwhile True:\n    sys.stderr.write("spam" * 1000)',
    end: 'output',
  },
  { name: 'a crash', source: 'import ctypes\nctypes.string_at(0)', end: 'signal' },
  {
    name: 'the secrets of the runner, in its own memory',
    source: `
import gc, sys
seen = []
frame = sys._getframe()
while frame is not None:
    seen.append(frame.f_locals)
    seen.append(frame.f_globals)
    frame = frame.f_back
found = [v for space in seen for k, v in list(space.items()) if k == "nonce"]
found += [bytes(o.nonce) for o in gc.get_objects() if type(o).__name__ == "Case"]
print(all(not any(value) for value in found))
`,
    end: 'exit',
    prints: 'True\n',
  },
]

/** Things honest programs need and must still be able to do. */
export const honest: readonly Attack[] = [
  {
    name: 'the exit functions of the site module',
    source: 'print(1)\nexit()',
    end: 'exit',
    prints: '1\n',
  },
  {
    name: 'recursion in a thread with a large stack',
    source: `
import sys, threading
sys.setrecursionlimit(1 << 20)
threading.stack_size(64 << 20)
def down(k):
    return 0 if k == 0 else 1 + down(k - 1)
def main():
    print(down(20000))
thread = threading.Thread(target=main)
thread.start()
thread.join()
`,
    end: 'exit',
    prints: '20000\n',
  },
  {
    name: '150 MiB of memory',
    source: 'block = bytearray(150 << 20)\nprint(len(block))',
    end: 'exit',
    prints: `${150 * 2 ** 20}\n`,
  },
  {
    name: 'asyncio, decimal, sqlite and dataclasses',
    source: `
from __future__ import annotations
import asyncio, dataclasses, decimal, sqlite3
@dataclasses.dataclass
class Point:
    x: int
async def main():
    await asyncio.sleep(0.01)
    return decimal.Decimal(1) / 3
print(asyncio.run(main()), Point(1), sqlite3.connect(":memory:").execute("select 6 * 7").fetchone())
`,
    end: 'exit',
    prints: '0.3333333333333333333333333333 Point(x=1) (42,)\n',
  },
  {
    name: 'event loops one after the other, and in threads',
    source: `
import asyncio, threading
async def main():
    await asyncio.sleep(0.001)
    return await asyncio.get_running_loop().run_in_executor(None, lambda: 7)
print(sum(asyncio.run(main()) for _ in range(20)))
seen = []
threads = [threading.Thread(target=lambda: seen.append(asyncio.run(main()))) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(seen)
`,
    end: 'exit',
    prints: '140\n[7, 7]\n',
  },
  {
    name: 'a file object of its own, never closed, beside print',
    source: 'out = open(1, "w", closefd=False)\nout.write("second")\nprint("first")',
    end: 'exit',
    prints: 'first\nsecond',
  },
  {
    name: 'exit handlers and replaced standard output',
    source: `
import atexit, io, sys
real = sys.stdout
sys.stdout = io.StringIO()
atexit.register(lambda: real.write(sys.stdout.getvalue()))
print("late")
`,
    end: 'exit',
    prints: 'late\n',
  },
  {
    name: 'the same order of a set, the same random numbers, in every run',
    source: 'import random\nprint(list({"a", "b", "c", "d"}), random.random())',
    end: 'exit',
  },
  {
    name: 'files in /tmp, where a tool may write',
    tmp: 'writable',
    source: 'open("/tmp/x", "w").write("1")\nprint(open("/tmp/x").read())',
    end: 'exit',
    prints: '1\n',
  },
  { name: 'an exit status', source: 'raise SystemExit(3)', end: 'exit' },
]
