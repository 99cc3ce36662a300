// Programs that try to reach the next program in their sandbox, and what happens to the sandbox.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { patientLimits } from '../../test/attacks/attacks.ts'
import { memorySearch } from '../../test/attacks/memory-search.ts'
import { descendants, gone } from '../../test/attacks/processes.ts'
import { oneAtATime } from '../../test/one-at-a-time.ts'
import type { CaseReport } from './case.ts'
import { SandboxPool } from './pool.ts'
import type { Sandbox } from './sandbox.ts'

oneAtATime()

interface Ran extends CaseReport {
  readonly sandbox: Sandbox
}

function runIn(pool: SandboxPool, source: string, stdin = ''): Promise<Ran> {
  return pool.job(undefined, async (job) => {
    const sandbox = await job.open()
    return { ...(await sandbox.run({ mode: 'script', source, stdin }, patientLimits).ended), sandbox }
  })
}

const canary = () => `CANARY<${randomBytes(8).toString('hex')}>`

let pool: SandboxPool
beforeEach(() => {
  // One slot, so that two consecutive jobs get the same sandbox if it is kept, however long the machine
  // takes in between.
  pool = new SandboxPool({ concurrency: 1, idleSeconds: 600, infrastructureSeconds: 600 })
})
afterEach(() => pool.close())

/** Everything a program can see of its process except process ids, times and addresses. */
const fingerprint = `
import builtins, decimal, gc, json, locale, math, os, random, resource, signal, stat, sys, threading, time
def kind(number):
    try:
        return stat.S_IFMT(os.fstat(number).st_mode)
    except OSError:
        return None
umask = os.umask(0)
print(json.dumps({
    "modules": sorted(sys.modules), "builtins": sorted(dir(builtins)), "environment": dict(os.environ),
    "functions": [math.sqrt(16), len([1, 2]), json.dumps([1]), sorted([2, 1]), os.path.join("a", "b")],
    "random": [random.random(), hash("x")], "folder": os.getcwd(), "umask": umask, "argv": sys.argv, "path": sys.path,
    "signals": [str(signal.getsignal(n)) for n in range(1, 32)], "mask": [int(n) for n in signal.pthread_sigmask(0, [])],
    "descriptors": [kind(n) for n in range(256)], "recursion": sys.getrecursionlimit(), "collector": gc.get_threshold(),
    "collects": gc.isenabled(), "objects": len(gc.get_objects()), "timer": signal.getitimer(signal.ITIMER_REAL),
    "limits": [resource.getrlimit(n) for n in range(16)], "files": [os.listdir(p) for p in ("/tmp", "/run", "/dev")],
    "threads": threading.active_count(), "precision": decimal.getcontext().prec, "locale": locale.setlocale(locale.LC_ALL),
    "group": [os.getpgid(0) != os.getpid(), os.getsid(0) != os.getpid()], "user": [os.getuid(), os.getgid(), os.getgroups()],
    "priority": os.getpriority(os.PRIO_PROCESS, 0), "zone": time.tzname, "input": sys.stdin.read(), "switch": sys.getswitchinterval(),
    "hooks": [sys.gettrace() is None, sys.getprofile() is None, sys.excepthook is sys.__excepthook__, len(sys.meta_path), len(sys.path_hooks)],
}))
`

const meddling = `
import atexit, builtins, decimal, gc, json, locale, math, os, random, resource, signal, socket, sys, threading, time
builtins.planted = 1
sys.modules["planted"] = math
math.sqrt = lambda x: 42
json.dumps = lambda *a, **k: "{}"
builtins.len = lambda x: 42
builtins.print = lambda *a: None
os.path.join = None
sys.path.insert(0, "/tmp")
sys.meta_path.clear()
os.environ["PLANTED"] = "1"
os.putenv("PLANTED_TOO", "1")
time.tzname = ("X", "Y")
os.environ["TZ"] = "UTC-5"
time.tzset()
os.umask(0o777)
os.chdir("/usr")
random.seed(7)
sys.setrecursionlimit(77)
gc.disable()
gc.set_threshold(1, 1, 1)
decimal.getcontext().prec = 3
sys.setswitchinterval(0.5)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGCHLD])
signal.setitimer(signal.ITIMER_REAL, 1000)
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
for attempt in (lambda: os.setsid(), lambda: os.setpgid(0, 0), lambda: os.nice(5)):
    try:
        attempt()
    except OSError:
        pass
for folder in ("/tmp", "/", "/dev", "/dev/shm", "/dev/pts", "/run", "/run/runner", "/usr/lib"):
    try:
        open(folder + "/planted", "w").write("1")
    except OSError:
        pass
held = [socket.socketpair() for _ in range(3)]
held[0][1].send(b"planted")
os.write(1, b"meddled")
os._exit(0)
`

describe('the next program in a sandbox', () => {
  test('sees the same environment, whatever the first one changed', async () => {
    const first = await runIn(pool, fingerprint)
    expect(first.stderr).toBe('')
    const second = await runIn(pool, meddling, 'not read')
    expect({ out: second.stdout, end: second.end, err: second.stderr }).toMatchObject({
      out: 'meddled',
      end: 'exit',
    })
    const third = await runIn(pool, fingerprint)
    expect(second.sandbox).toBe(first.sandbox)
    expect(third.sandbox).toBe(first.sandbox)
    expect(JSON.parse(third.stdout)).toEqual(JSON.parse(first.stdout))
    const fresh = await pool.job(undefined, (job) => Promise.all([job.open(), job.open()]))
    expect(fresh[1]).not.toBe(first.sandbox)
  })

  test('finds no trace of an earlier one in memory, files and descriptors', async () => {
    const secrets = [canary(), canary(), canary()]
    const own = await runIn(pool, `${memorySearch}\nkept = input()\nprint(found())`, secrets[0])
    // Proves that the search finds what is there.
    expect(own.stdout).toBe(`['${secrets[0]!.slice(7, -1)}']\n`)
    const plant = `
import os, sys
text = sys.stdin.read()
kept = [text * 50 for _ in range(2000)]
os.environ["KEPT"] = kept[0]
sys.modules[kept[1][:24]] = kept
print("${secrets[2]}" * 100)
sys.stderr.write(kept[3])
class Named: pass
Named.__name__ = kept[5][:24]
raise ValueError(kept[6])
`
    const planted = await runIn(pool, plant, secrets[1])
    expect(planted.stderr).toContain(secrets[1])
    const later = await runIn(pool, `${memorySearch}\nprint(found())`)
    expect(later.sandbox).toBe(planted.sandbox)
    expect({ out: later.stdout, err: later.stderr }).toEqual({ out: '[]\n', err: '' })
  })

  test('is out of reach: no memory, descriptor or signal of runner or zygote', async () => {
    const reach = `
import ctypes, errno, os, signal
libc = ctypes.CDLL(None, use_errno=True)
results = set()
for pid in range(2, 60):
    for number, *rest in ((101, 16, pid, 0, 0), (310, pid, 0, 1, 0, 1, 0), (311, pid, 0, 1, 0, 1, 0), (434, pid, 0),
                          (62, pid, 9), (62, pid, 19), (302, pid, 7, 0, 0), (200, pid, 9), (424, pid, 9, 0, 0)):
        ctypes.set_errno(0)
        done = libc.syscall(*[ctypes.c_long(n) for n in (number, *rest)])
        results.add("allowed" if done >= 0 else errno.errorcode[ctypes.get_errno()])
print(sorted(results), os.path.exists("/proc"))
`
    const first = await runIn(pool, reach)
    if (process.arch === 'x64') expect(first.stdout).toBe("['EPERM'] False\n")
    const second = await runIn(pool, 'print(6 * 7)')
    expect(second.sandbox).toBe(first.sandbox)
    expect(second.stdout).toBe('42\n')
  })

  test('shares no writable memory with the zygote', async () => {
    const ran = await runIn(pool, 'print(1)')
    expect(ran.sandbox.isClean).toBe(true)
    const maps = (await idleProcesses()).slice(-3).map(readMaps)
    // Readable by root only: the processes are hidden from everyone else.
    if (maps.some((map) => map === undefined)) return
    for (const map of maps) expect(map!.split('\n').filter((line) => / .w.s /.test(line))).toEqual([])
  })

  test('gets no frame, byte or process of an earlier one', async () => {
    const before = await runIn(pool, 'print(1)')
    const attack = `
import os, struct
for number in range(64):
    for kind in (b"C", b"S", b"D", b"E", b"U", b"F", b"R"):
        try:
            os.write(number, bytes(16) + kind + struct.pack(">I", 2) + b"{}")
        except OSError:
            break
for start in (os.fork, os.forkpty):
    try:
        start()
    except OSError:
        pass
os._exit(0)
`
    const attacker = await runIn(pool, attack)
    expect(attacker.sandbox).toBe(before.sandbox)
    expect(attacker.end).toBe('malformed')
    expect(attacker.sandbox.isClean).toBe(false)
    const next = await runIn(pool, 'print(input())', 'mine\n')
    expect(next.sandbox).not.toBe(attacker.sandbox)
    expect(next.stdout).toBe('mine\n')
    expect(await idleProcesses()).toHaveLength(5)
  })

  test.each([
    ['crashes', 'import ctypes\nctypes.string_at(0)', 'signal'],
    ['makes a thread', 'import threading\nthreading.Thread(target=print).start()', 'exit'],
    ['writes too much', 'while True:\n    print("x" * 1000)', 'output'],
  ])('gets a new sandbox after one that %s', async (_, source, end) => {
    const first = await runIn(pool, source)
    expect(first.end).toBe(end)
    const second = await runIn(pool, 'print(6 * 7)')
    expect(second.sandbox).not.toBe(first.sandbox)
    expect(second.stdout).toBe('42\n')
  })
})

describe('an idle sandbox', () => {
  test.each([
    ['runner', -3, 'SIGKILL'],
    ['runner', -3, 'SIGSTOP'],
    ['zygote', -2, 'SIGKILL'],
  ] as const)('is replaced when its %s (%i) gets %s', async (_, place, signal) => {
    const first = await runIn(pool, 'print(1)')
    const pids = await idleProcesses()
    process.kill(pids.at(place)!, signal)
    if (signal === 'SIGKILL') expect(await gone([pids.at(place)!])).toBe(true)
    const second = await runIn(pool, 'print(6 * 7)')
    expect(second.stdout).toBe('42\n')
    expect(second.sandbox).not.toBe(first.sandbox)
    expect(await gone(pids)).toBe(true)
  })

  test('survives the kill of the process waiting for a program', async () => {
    await runIn(pool, 'print(1)')
    const waiting = (await idleProcesses()).at(-1)!
    process.kill(waiting, 'SIGKILL')
    expect(await gone([waiting])).toBe(true)
    const second = await runIn(pool, 'print(6 * 7)')
    expect(second.stdout).toBe('42\n')
  })

  test('ends after a while, or with its pool', async () => {
    const short = new SandboxPool({ concurrency: 1, idleSeconds: 0.2 })
    await runIn(short, 'print(1)')
    expect(await gone(descendants(process.pid))).toBe(true)
    await runIn(pool, 'print(1)')
    const pids = descendants(process.pid)
    expect(pids.length).toBeGreaterThan(0)
    await pool.close()
    expect(await gone(pids)).toBe(true)
    await runIn(pool, 'print(1)')
    expect(await gone(descendants(process.pid))).toBe(true)
  })

  test('is one of a limited number', async () => {
    const wide = new SandboxPool({ concurrency: 2 })
    const jobs = Array.from({ length: 4 }, () =>
      wide.job(undefined, async (job) => {
        const [first] = await Promise.all([job.open(), job.open()])
        await first.forTests()
      }),
    )
    await Promise.all(jobs)
    // Five processes each: two of bubblewrap, runner, zygote, and the one waiting for a program.
    expect(descendants(process.pid).length).toBeLessThanOrEqual(4 * 5)
    await wide.close()
  })

  test('does not serve forever', async () => {
    let sandbox: Sandbox | undefined
    await pool.job(undefined, async (job) => {
      sandbox = await job.open()
      for (let number = 0; number < 250; number += 1) {
        await sandbox.run({ mode: 'compile', source: 'x = 1' }, patientLimits).ended
      }
      expect(sandbox.isClean).toBe(true)
    })
    expect((await runIn(pool, 'print(1)')).sandbox).not.toBe(sandbox)
  })

  test('is never one with writable files', async () => {
    const open = () => pool.job(undefined, (job) => job.open({ writableTmp: true }))
    const first = await open()
    expect(descendants(process.pid)).toEqual([])
    expect(await open()).not.toBe(first)
  })

  test('is never one whose case is still running', async () => {
    const first = await pool.job(undefined, async (job) => {
      const sandbox = await job.open()
      sandbox.run({ mode: 'script', source: 'import time\ntime.sleep(60)', stdin: '' }, patientLimits)
      return sandbox
    })
    const second = await runIn(pool, 'print(6 * 7)')
    expect(second.sandbox).not.toBe(first)
    expect(second.stdout).toBe('42\n')
  })

  test('does not keep the process alive, and ends with it', async () => {
    const script = `
import { SandboxPool } from ${JSON.stringify(new URL('./pool.ts', import.meta.url).href)}
const pool = new SandboxPool({ idleSeconds: 600 })
await pool.job(undefined, (job) => job.open())
console.log('idle')
`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const pids = descendants(child.pid!)
    expect(await ended).toBe(0)
    expect(await gone(pids)).toBe(true)
  })
})

/** Of one idle sandbox: two of bubblewrap, runner, zygote, and the process waiting for a program. */
async function idleProcesses(): Promise<number[]> {
  for (;;) {
    const pids = descendants(process.pid)
    if (pids.length === 5) return pids
    await wait(5)
  }
}

function readMaps(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/maps`, 'utf8')
  } catch {
    return undefined
  }
}
