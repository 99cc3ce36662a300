// Ways in which programs could leave something for others. `enumeration` tries every kind of change on
// everything a program can reach and prints what succeeded; `leave` and `look` are two programs that try to
// pass a secret anyway.
import { paperLimits } from '../../src/sandbox/limits.ts'
import { SandboxPool } from '../../src/sandbox/pool.ts'

/**
 * Python: `paths()` returns everything with a name in the sandbox, and `changes(path, n)` all ways to leave
 * a number there.
 */
const reach = `
import ctypes, errno, fcntl, mmap, os, resource, signal, socket, struct, sys, threading
libc = ctypes.CDLL(None, use_errno=True)

def paths():
    yield "/"
    for root, folders, files in os.walk("/"):
        for name in folders + files:
            yield os.path.join(root, name)

def opened(path, flags, act):
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    try:
        return act(descriptor)
    finally:
        os.close(descriptor)

def kernel(*numbers):
    ctypes.set_errno(0)
    if libc.syscall(*[ctypes.c_long(n) for n in numbers]) < 0:
        raise OSError(ctypes.get_errno(), "")

buffer = ctypes.create_string_buffer(64)
libc.mmap.restype = ctypes.c_void_p

def page():
    """Of a file that all sandboxes have, as shared memory that cannot be written."""
    return opened(os.__file__, os.O_RDONLY, lambda d: libc.mmap(None, 4096, 1, 1, d, 0))

def wake(command):
    kernel(202, page(), command, 1, 1, 0, 1)

def send_descriptor(n):
    one, _ = socket.socketpair()
    one.sendmsg([bytes([n])], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", 1))])

def append(descriptor, n):
    os.write(descriptor, bytes([n]))
    # What a device swallows is not kept.
    if os.fstat(descriptor).st_rdev:
        raise OSError(errno.ENODEV, "")

def kept(memory, path, n):
    """A device may give memory; it must not give the same again."""
    memory[0] = n
    again = opened(path, os.O_RDWR, lambda d: mmap.mmap(d, 4096))
    if again[0] != n:
        raise OSError(errno.ENODEV, "")

def changes(path, n):
    lock = struct.pack("hhqqi", fcntl.F_RDLCK, 0, n, 1, 0)
    folder = os.path.isdir(path)
    yield "times", lambda: os.utime(path, (n, n))
    yield "times now", lambda: os.utime(path)
    yield "times of a link", lambda: os.utime(path, (n, n), follow_symlinks=False)
    yield "times by descriptor", lambda: opened(path, os.O_RDONLY, lambda d: os.utime(d, (n, n)))
    yield "mode", lambda: os.chmod(path, 0o400 + n % 64)
    yield "mode by descriptor", lambda: opened(path, os.O_RDONLY, lambda d: os.fchmod(d, 0o400 + n % 64))
    yield "owner", lambda: os.chown(path, os.getuid(), os.getgid())
    yield "attribute", lambda: os.setxattr(path, "user.n", bytes([n]))
    yield "trusted attribute", lambda: os.setxattr(path, "trusted.n", bytes([n]))
    yield "rename", lambda: os.rename(path, path + str(n))
    yield "link", lambda: os.link(path, path + str(n))
    yield "lock", lambda: opened(path, os.O_RDONLY, lambda d: fcntl.flock(d, fcntl.LOCK_SH | fcntl.LOCK_NB))
    yield "record lock", lambda: opened(path, os.O_RDONLY, lambda d: fcntl.fcntl(d, fcntl.F_SETLK, lock))
    yield "lock of a description", lambda: opened(path, os.O_RDONLY, lambda d: fcntl.fcntl(d, 37, lock))
    yield "lease", lambda: opened(path, os.O_RDONLY, lambda d: fcntl.fcntl(d, fcntl.F_SETLEASE, fcntl.F_RDLCK))
    yield "hint", lambda: opened(path, os.O_RDONLY, lambda d: fcntl.fcntl(d, 1036, struct.pack("Q", n % 6)))
    yield "watch", lambda: opened(path, os.O_RDONLY, lambda d: fcntl.fcntl(d, fcntl.F_NOTIFY, 1))
    yield "advice", lambda: opened(path, os.O_RDONLY, lambda d: os.posix_fadvise(d, 0, 0, os.POSIX_FADV_DONTNEED))
    yield "flags", lambda: opened(path, os.O_RDONLY, lambda d: fcntl.ioctl(d, 0x40086602, struct.pack("Q", n)))
    if folder:
        yield "file", lambda: open(path + "/x%d" % n, "x")
        yield "unnamed file", lambda: os.open(path, os.O_TMPFILE | os.O_RDWR)
        yield "folder", lambda: os.mkdir(path + "/y%d" % n)
        yield "symbolic link", lambda: os.symlink("x", path + "/z%d" % n)
        yield "pipe", lambda: os.mkfifo(path + "/p%d" % n)
        yield "removal", lambda: os.rmdir(path)
    else:
        yield "content", lambda: opened(path, os.O_WRONLY | os.O_APPEND, lambda d: append(d, n))
        yield "length", lambda: os.truncate(path, n)
        yield "removal", lambda: os.unlink(path)
        yield "shared memory", lambda: opened(path, os.O_RDWR, lambda d: kept(mmap.mmap(d, 4096), path, n))

def states(n):
    """Everything without a name: kept by the kernel for a user, a group of processes or a namespace."""
    unix = socket.AF_UNIX
    yield "socket", lambda: socket.socket(unix, socket.SOCK_DGRAM).bind("\\0n%d" % n)
    yield "stream socket", lambda: socket.socket(unix, socket.SOCK_STREAM).bind("\\0n%d" % n)
    yield "internet socket", lambda: socket.socket().bind(("127.0.0.1", 5000 + n))
    yield "shared memory", lambda: kernel(29, n, 4096, 0o1666)
    yield "message queue", lambda: kernel(68, n, 0o1666)
    yield "semaphore", lambda: kernel(64, n, 1, 0o1666)
    yield "named queue", lambda: kernel(240, id(b"/n") + 32, 0o102, 0o666, 0)
    yield "key", lambda: kernel(248, id(b"user\\0") + 32, id(b"n\\0") + 32, id(b"1") + 32, 1, -4)
    yield "keyring", lambda: kernel(250, 1, 0)
    yield "priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, n % 20)
    yield "priority of a group", lambda: os.setpriority(os.PRIO_PGRP, 0, n % 20)
    yield "priority of a user", lambda: os.setpriority(os.PRIO_USER, 0, n % 20)
    yield "input priority", lambda: kernel(251, 3, 0, 0x4000 + n % 8)
    yield "cores", lambda: os.sched_setaffinity(0, {n % os.cpu_count()})
    yield "scheduling", lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    yield "host name", lambda: socket.sethostname("n%d" % n)
    yield "limits of another", lambda: resource.prlimit(2, resource.RLIMIT_NICE, (n, n))
    yield "signal to another", lambda: os.kill(2, 0)
    yield "anonymous file", lambda: os.memfd_create("n")
    yield "process", lambda: os.fork() or os._exit(0)
    yield "namespace", lambda: kernel(272, 0x20000000)
    yield "timer", lambda: kernel(222, 1, 0, id(bytes(8)) + 32)
    yield "clock", lambda: kernel(227, 0, 0)
    yield "pipe", lambda: os.pipe()
    yield "pair of sockets", lambda: kernel(53, 1, 1, 0, ctypes.addressof(buffer))
    yield "descriptor in flight", lambda: send_descriptor(n)
    yield "number of a socket", lambda: socket.socketpair()[0].getsockopt(socket.SOL_SOCKET, 57, 8)
    yield "number of a network", lambda: socket.socketpair()[0].getsockopt(socket.SOL_SOCKET, 71, 8)
    yield "waking at a page of a file", lambda: wake(1)
    yield "moving waiters of a page of a file", lambda: wake(3)
    yield "waking by bits", lambda: wake(10)
    yield "new waking", lambda: kernel(454, page(), 1, 1, 2)
    yield "waking by the end of a thread", lambda: kernel(218, page())
    yield "pages in memory", lambda: kernel(27, page(), 4096, ctypes.addressof(buffer))
    yield "terminal", lambda: os.openpty()
    yield "reading without waiting", lambda: opened(os.__file__, os.O_RDONLY, lambda d: os.preadv(d, [bytearray(1)], 0, os.RWF_NOWAIT))
    yield "read ahead", lambda: opened(os.__file__, os.O_RDONLY, lambda d: kernel(187, d, 0, 4096))

def done(act):
    try:
        act()
        return True
    except (OSError, OverflowError, ValueError):
        return False
`

/** Prints every change that succeeded over everything reachable, and how much that was. */
export const enumeration = `${reach}
through, tried, names = set(), 0, 0
for path in paths():
    names += 1
    # The interpreter's folders have thousands of files in the same state: all of their folders, and a part of them.
    if path.startswith("/usr") and not os.path.isdir(path) and names % 40:
        continue
    for name, act in changes(path, 7):
        tried += 1
        if done(act):
            through.add((name, path))
for name, act in states(7):
    tried += 1
    if done(act):
        through.add((name, "kernel"))
print(names > 1000, tried > 1000, sorted(through))
`

/** Leaves its input, one byte, in every possible way: some of them on a random choice of files. */
const leave = `${reach}
import random
secret = int(input())
random.seed(secret)
for path in ["/", "/dev", "/tmp", "/run", "/run/runner", *("/dev/" + name for name in os.listdir("/dev")), sys.executable, os.__file__,
             os.path.dirname(os.__file__), random.__file__]:
    for _, act in changes(path, secret):
        done(act)
for _, act in states(secret):
    done(act)
os.umask(secret)
resource.setrlimit(resource.RLIMIT_NOFILE, (20 + secret % 40, 63))
libc.prctl(29, secret * 1000, 0, 0, 0)
libc.prctl(36, secret % 2, 0, 0, 0)
libc.prctl(15, ctypes.c_char_p(b"n%d" % secret), 0, 0, 0)
os.chdir("/usr" if secret % 2 else "/dev")
signal.signal(signal.SIGUSR1, signal.SIG_IGN if secret % 2 else signal.SIG_DFL)
signal.alarm(secret)
for number in range(5):
    done(lambda: os.set_blocking(number, secret % 2 == 0))
    done(lambda: os.lseek(number, secret, 0))
if secret % 3 == 0:
    done(lambda: os.setsid())
if secret % 5 == 0:
    for _ in range(secret % 30):
        threading.Thread(target=int).start()
`

/** Prints everything it can see of its sandbox: the same in every process, if nothing can be left behind. */
const look = `${reach}
import json
def see(act):
    try:
        return act()
    except (OSError, ValueError) as problem:
        return type(problem).__name__
def facts(path):
    s = os.lstat(path)
    # Others on this machine read the interpreter's files, too.
    times = [s.st_mtime_ns, s.st_ctime_ns] + ([] if path.startswith("/usr") else [s.st_atime_ns])
    # Fresh in every sandbox: how old its own folders and files are says only when it was started.
    own = path.startswith(("/run", "/tmp")) or path in ("/", "/dev", "/usr")
    return [path, s.st_mode, s.st_size, s.st_nlink, s.st_uid, s.st_gid, [] if own else times, see(lambda: os.listxattr(path))]
seen = [facts(path) for path in ["/", "/dev", "/tmp", "/run", "/run/runner", *("/dev/" + name for name in sorted(os.listdir("/dev"))),
        sys.executable, os.__file__, os.path.dirname(os.__file__)]]
own = [sorted(os.listdir(p)) for p in ("/", "/dev", "/tmp", "/run", "/run/runner")]
# Before the thread, which is still there for a moment after its end.
others = [[see(lambda: os.getpgid(n)), see(lambda: os.getpriority(0, n))] for n in range(2, 40)]
before = threading.get_native_id()
made = []
thread = threading.Thread(target=lambda: made.append(threading.get_native_id()))
if input() == "1":
    thread.start()
    thread.join()
name = ctypes.create_string_buffer(16)
libc.prctl(16, name, 0, 0, 0)
print(json.dumps([seen, own, before, made, os.getpid(), os.getppid(), os.getpgid(0), os.getsid(0), os.umask(0), os.getcwd(),
    [resource.getrlimit(n) for n in range(16)], libc.prctl(30, 0, 0, 0, 0), libc.prctl(37, name, 0, 0, 0), name.value.decode(),
    signal.alarm(0), str(signal.getsignal(signal.SIGUSR1)), [see(lambda: os.get_blocking(n)) for n in range(6)],
    [see(lambda: os.getpriority(kind, 0)) for kind in (0, 1, 2)], sorted(os.sched_getaffinity(0)), os.sched_getscheduler(0),
    os.uname().nodename, others,
    see(lambda: resource.getrusage(0).ru_minflt < 0), see(lambda: os.sysconf("SC_NPROCESSORS_CONF")),
    [see(lambda: kernel(number, 7, 0, 0)) for number in (29, 64, 68)]]))
`

export interface TraceReport {
  readonly enumerated: string
  readonly enumeratedWritable: string
  /** What the second programs saw, without and with a thread; one text each if nothing was passed. */
  readonly seen: readonly string[]
  readonly seenWithThread: readonly string[]
  /** How many pairs shared a sandbox. */
  readonly shared: number
}

/** Runs the enumeration, and pairs of programs of which the first leaves and the second looks. */
export async function traceReport(pairs: number): Promise<TraceReport> {
  const pool = new SandboxPool({ concurrency: 1, idleSeconds: 600, infrastructureSeconds: 600 })
  const limits = { ...paperLimits, cpuSeconds: 60, wallSeconds: 120, memoryBytes: 2 ** 30 }
  const run = (source: string, stdin: string, writableTmp = false) =>
    pool.job(undefined, async (job) => {
      const sandbox = await job.open({ writableTmp })
      const { stdout, stderr } = await sandbox.run({ mode: 'script', source, stdin }, limits).ended
      return { sandbox, text: stdout + stderr }
    })
  try {
    const enumerated = (await run(enumeration, '')).text
    const enumeratedWritable = (await run(enumeration, '', true)).text
    const seen = [new Set<string>(), new Set<string>()] as const
    let shared = 0
    for (let pair = 0; pair < pairs; pair += 1) {
      const secret = Math.floor(Math.random() * 200)
      const first = await run(leave, String(secret))
      if (first.text !== '') throw new Error(`The first program of a pair failed: ${first.text}`)
      // A thread would reveal how many there were before, but costs the sandbox.
      const withThread = pair % 10 === 0 ? 1 : 0
      const second = await run(look, String(withThread))
      seen[withThread].add(second.text)
      if (second.sandbox === first.sandbox) shared += 1
    }
    return { enumerated, enumeratedWritable, seen: [...seen[0]], seenWithThread: [...seen[1]], shared }
  } finally {
    await pool.close()
  }
}

if (import.meta.main) {
  const report = await traceReport(Number(process.argv[2]))
  process.stdout.write(JSON.stringify({ uid: process.getuid?.(), ...report }))
}
