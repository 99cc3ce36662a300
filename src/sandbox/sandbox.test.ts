import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { patientLimits } from '../../test/attacks/attacks.ts'
import { announcesStart, descendants, gone } from '../../test/attacks/processes.ts'
import { findSandboxHost } from './host.ts'
import { paperLimits } from './limits.ts'
import { SandboxPool } from './pool.ts'
import { Sandbox } from './sandbox.ts'
import { SandboxUnavailable } from './unavailable.ts'

const source = `${announcesStart}\nimport time\ntime.sleep(60)`
const sleep = { mode: 'script', source, stdin: '' } as const

describe('a sandbox', () => {
  test('runs many cases, each in its own process', async () => {
    const sandbox = await Sandbox.start(await findSandboxHost(), false)
    const source =
      'import os, sys\nsys.stdout.write(f"{len(sys.modules)} {input()}")\nsys.modules["leftover"] = 1'
    const seen = new Set<string>()
    for (let number = 0; number < 5; number += 1) {
      const stdin = `${number}\n`
      const report = await sandbox.run({ mode: 'script', source, stdin }, patientLimits).ended
      const [modules, echoed] = report.stdout.split(' ')
      expect({ end: report.end, code: report.code, echoed }).toEqual({
        end: 'exit',
        code: 0,
        echoed: `${number}`,
      })
      seen.add(modules!)
    }
    expect(seen.size).toBe(1)
    await sandbox.close()
  })

  test('passes on a large input, read or not', async () => {
    const sandbox = await Sandbox.start(await findSandboxHost(), false)
    const stdin = 'é'.repeat(2_000_000)
    const reads = { mode: 'script', source: 'print(len(open(0).read()))', stdin } as const
    expect((await sandbox.run(reads, patientLimits).ended).stdout).toBe('2000000\n')
    const ignores = { ...reads, source: 'print(1)' }
    expect((await sandbox.run(ignores, patientLimits).ended).stdout).toBe('1\n')
    await sandbox.close()
  })

  test('handles lone surrogates in programs and input', async () => {
    const sandbox = await Sandbox.start(await findSandboxHost(), false)
    const report = await sandbox.run(
      { mode: 'script', source: 'x = "\ud800"', stdin: '\udfff' },
      patientLimits,
    ).ended
    expect(report.code).toBe(1)
    expect(report.stderr).toContain('UnicodeEncodeError')
    const next = await sandbox.run({ mode: 'script', source: 'print(1)', stdin: '' }, patientLimits).ended
    expect(next.stdout).toBe('1\n')
    await sandbox.close()
  })

  test('is for programs or for their tests, and both end together', async () => {
    const host = await findSandboxHost()
    const forPrograms = await Sandbox.start(host, false)
    const test = 'def check(candidate): pass'
    const judge = { mode: 'judge', preamble: [], entry: 'f', test, answerSeconds: 1 } as const
    expect(() => forPrograms.run(judge, paperLimits)).toThrow('for programs')
    const forTests = await forPrograms.forTests()
    expect(() => forTests.run(sleep, paperLimits)).toThrow('for tests')
    await forPrograms.close()
    expect(await gone(descendants(process.pid))).toBe(true)
  })

  test('leaves no process behind after closing', async () => {
    const sandbox = await Sandbox.start(await findSandboxHost(), false)
    const running = sandbox.run(sleep, patientLimits)
    await running.message()
    const pids = descendants(process.pid)
    expect(pids.length).toBeGreaterThanOrEqual(3)
    await sandbox.close()
    expect((await running.ended).end).toBe('lost')
    expect(await gone(pids)).toBe(true)
  })

  // Below this process: bubblewrap, its first process, the runner, the zygote, the program.
  test.each([
    ['runner', -3],
    ['zygote', -2],
  ])('whose %s is killed reports the case as lost', async (_, place) => {
    const sandbox = await Sandbox.start(await findSandboxHost(), false)
    const running = sandbox.run(sleep, patientLimits)
    await running.message()
    const pids = descendants(process.pid)
    process.kill(pids.at(place)!, 'SIGKILL')
    expect((await running.ended).end).toBe('lost')
    expect(await gone(pids)).toBe(true)
    expect((await sandbox.run(sleep, paperLimits).ended).end).toBe('lost')
    expect(sandbox.isClean).toBe(false)
    await sandbox.close()
  })

  test('whose runner or zygote is stopped is eventually abandoned', async () => {
    const giveUp = async (place: number) => {
      const sandbox = await Sandbox.start(await findSandboxHost(), false)
      // Long enough for the program to start on a busy machine.
      const running = sandbox.run(sleep, { ...paperLimits, wallSeconds: 8 })
      await running.message()
      const pids = descendants(process.pid)
      process.kill(pids.at(place)!, 'SIGSTOP')
      return { ended: running.ended, pids, sandbox }
    }
    // Started one after the other, because each targets the youngest processes, but awaited together.
    const [runner, zygote] = [await giveUp(-3), await giveUp(-2)]
    for (const { ended, pids, sandbox } of [runner, zygote]) {
      expect((await ended).end).toBe('late')
      await sandbox.close()
      expect(await gone(pids.slice(-5))).toBe(true)
    }
  })

  test('dies with the process that started it, even by kill -9', async () => {
    const script = fileURLToPath(new URL('../../test/attacks/sleep-in-sandbox.ts', import.meta.url))
    const parent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    await new Promise((resolve) => parent.stdout.once('data', resolve))
    const pids = descendants(parent.pid!)
    expect(pids.length).toBeGreaterThanOrEqual(3)
    parent.kill('SIGKILL')
    await exited(parent)
    expect(await gone(pids)).toBe(true)
  })
})

function exited(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once('close', () => resolve()))
}

describe('a pool', () => {
  test('limits the number of concurrent jobs', async () => {
    const pool = new SandboxPool({ concurrency: 2 })
    let running = 0
    let most = 0
    const job = () =>
      pool.job(undefined, async () => {
        running += 1
        most = Math.max(most, running)
        await wait(20)
        running -= 1
      })
    await Promise.all(Array.from({ length: 7 }, job))
    expect(most).toBe(2)
  })

  test('ends an aborted job and its sandboxes with the given reason', async () => {
    const pool = new SandboxPool({ concurrency: 1, infrastructureSeconds: 600 })
    const controller = new AbortController()
    const reason = new Error('enough')
    const started = Promise.withResolvers<unknown>()
    const first = pool.job(controller.signal, async (job) => {
      const running = (await job.open()).run(sleep, patientLimits)
      started.resolve(await running.message())
      return running.ended
    })
    const second = pool.job(controller.signal, async () => 'never')
    const ended = Promise.allSettled([first, second])
    await started.promise
    const pids = descendants(process.pid)
    controller.abort(reason)
    expect(await ended).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ])
    expect(await gone(pids)).toBe(true)
    expect(await pool.job(undefined, async () => 'free again')).toBe('free again')
    await expect(pool.job(controller.signal, async () => 'never')).rejects.toBe(reason)
  })

  test('stops a job at the infrastructure limit', async () => {
    const pool = new SandboxPool({ infrastructureSeconds: 0.5 })
    const job = pool.job(undefined, async (job) => (await job.open()).run(sleep, paperLimits).ended)
    await expect(job).rejects.toThrow('was stopped after')
  })

  test('says what is missing', async () => {
    const host = await findSandboxHost()
    const broken = {
      ...host,
      bubblewrap: { ...host.bubblewrap, path: '/usr/bin/false' },
      nextUser: () => undefined,
    }
    const pool = new SandboxPool({ findHost: async () => broken })
    const job = pool.job(undefined, (job) => job.open())
    await expect(job).rejects.toBeInstanceOf(SandboxUnavailable)
    await expect(pool.job(undefined, (job) => job.open())).rejects.toThrow(
      'apt-get install bubblewrap python3',
    )
    const absent = { ...broken, bubblewrap: { ...host.bubblewrap, path: '/nowhere/bwrap' } }
    const nowhere = new SandboxPool({ findHost: async () => absent })
    await expect(nowhere.job(undefined, (job) => job.open())).rejects.toThrow('ENOENT')
  })
})

describe('a job whose sandbox fails', () => {
  const pool = new SandboxPool({ concurrency: 1, infrastructureSeconds: 600 })
  afterAll(() => pool.close())
  /** Runs a program; in every attempt `harm` gets the processes of its sandbox, the program last. */
  async function run(source: string, harm: (pids: readonly number[], attempt: number) => void) {
    let attempts = 0
    const report = await pool.job(undefined, async (job) => {
      attempts += 1
      const sandbox = await job.open()
      const limits = { ...paperLimits, wallSeconds: 600 }
      const running = sandbox.run({ mode: 'script', source, stdin: '' }, limits)
      await running.message()
      harm(descendants(process.pid), attempts)
      return running.ended
    })
    return { attempts, report }
  }
  const slow = `${announcesStart}\nimport time\ntime.sleep(2)\nprint(6 * 7)`

  test.each([
    ['first process', -4],
    ['runner', -3],
    ['zygote', -2],
    ['program', -1],
  ])('is run again when its %s is killed from outside', async (_, place) => {
    const kill = (pids: readonly number[], attempt: number) =>
      void (attempt === 1 && process.kill(pids.at(place)!, 'SIGKILL'))
    const { attempts, report } = await run(slow, kill)
    expect({ attempts, end: report.end, out: report.stdout }).toEqual({
      attempts: 2,
      end: 'exit',
      out: '42\n',
    })
  })

  test('is abandoned after three attempts', async () => {
    let attempts = 0
    const killed = run(slow, (pids) => {
      attempts += 1
      process.kill(pids.at(-1)!, 'SIGKILL')
    })
    await expect(killed).rejects.toThrow('was killed from outside')
    expect(attempts).toBe(3)
  })

  test.each([
    ['cannot kill itself', 'import os\nos.kill(os.getpid(), 9)', 'exit'],
    [
      'cannot kill itself by a timer',
      'import ctypes\nctypes.CDLL(None).timer_create(0, 0, 0)\nprint(1)',
      'exit',
    ],
    ['crashes', 'import ctypes\nctypes.string_at(0)', 'signal'],
    ['aborts', 'import os\nos.abort()', 'signal'],
    ['takes all memory', 'x = bytearray(1 << 30)', 'exit'],
    ['takes all time', 'while True: pass', 'cpu'],
  ])('does not include one whose program %s: that is a result', async (_, source, end) => {
    const { attempts, report } = await run(source, () => {})
    expect({ attempts, end: report.end }).toEqual({ attempts: 1, end })
  })
})
