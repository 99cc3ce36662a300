// node run-all.ts [POINTS]: ends trainings at about a hundred moments and disk calls in every way, and
// checks that each recovers. POINTS is the approximate number of each kind; 100 by default.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { deriveRandom } from '../../src/numerics/random.ts'
import { sharedPath } from '../shared.ts'
import { assertRecovers } from './after-crash.ts'
import { LoggedServer, Trainer } from './processes.ts'
import { outcome } from './small-training.ts'

const points = Number(process.argv[2] ?? 100)
const failPoints = ['after:call', 'after:evaluation', 'before:events', 'after:events', 'after:checkpoint']
const work = mkdtempSync(join(tmpdir(), 'magic-crash-'))
const server = await LoggedServer.start(join(work, 'server.log'), { latencyMs: 5 })
const reference = join(work, 'reference')
const start = performance.now()
const undisturbed = await new Trainer(reference, server.url).ended
const wholeMs = performance.now() - start
if (undisturbed.code !== 0) throw new Error(`The undisturbed run failed. ${undisturbed.errors}`)
const expected = outcome(reference)
const tally = { passed: 0, failed: 0, mostInFlight: 0, mostRepeated: 0 }

/** One training that was cut short, and its outcome. */
async function crash(
  name: string,
  environment: Readonly<Record<string, string>>,
  interfere: (trainer: Trainer) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(work, 'run-'))
  try {
    const trainer = new Trainer(folder, server.url, {}, environment)
    await interfere(trainer)
    const { facts } = await trainer.ended
    const { inFlight, repeated } = await assertRecovers(folder, facts, expected, server.url)
    tally.mostInFlight = Math.max(tally.mostInFlight, inFlight)
    tally.mostRepeated = Math.max(tally.mostRepeated, repeated)
    tally.passed += 1
  } catch (error) {
    tally.failed += 1
    console.log(`${name}: ${(error as Error).message}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function signals(signal: NodeJS.Signals, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const ms = deriveRandom(7, signal, number).uniform() * wholeMs
    await crash(`${signal} after ${ms.toFixed(0)} ms`, {}, async (trainer) => {
      await Promise.race([wait(ms), trainer.ended])
      trainer.process.kill(signal)
    })
  }
  progress(`${count} times ${signal} at a random moment`)
}

async function places(): Promise<void> {
  const passed: Record<string, number> = {
    'after:call': undisturbed.facts.kept.size,
    'after:evaluation': undisturbed.facts.evaluated.size,
  }
  let count = 0
  for (const place of failPoints) {
    const times = passed[place] ?? 3
    const step = Math.max(1, Math.floor(times / (points / 4)))
    for (let time = 1; time <= times; time += step) {
      await crash(`${place}:${time}`, { MAGIC_FAIL: `${place}:${time}` }, async () => {})
      count += 1
    }
  }
  progress(`${count} times SIGKILL at a named place`)
}

async function diskCalls(mode: 'kill' | 'enospc' | 'eio'): Promise<void> {
  const matrix = sharedPath('tools', 'crash_matrix.py')
  if (!existsSync(matrix)) return void console.log('crash_matrix.py is not here: no crashes at disk calls')
  const node = (script: URL) => `${process.execPath} ${script.pathname}`
  const run = node(new URL('train-run.ts', import.meta.url))
  const verify = node(new URL('verify.ts', import.meta.url))
  const words = [
    ...[matrix, '--mode', mode, '--max', String(Math.ceil(points / 25))],
    // Node itself ends when its threads cannot wake each other by `write`, so that call can be a kill point
    // but not fail.
    ...(mode === 'kill'
      ? []
      : ['--calls', 'openat,pwrite64,fsync,fdatasync,ftruncate,rename,unlink,unlinkat,mkdir']),
    ...['--run', `${run} {dir} ${server.url}`],
    ...['--verify', `${verify} {dir} ${server.url} ${reference}`],
  ]
  const child = spawn('python3', words, { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (bytes: Buffer) => {
    said += bytes
    process.stdout.write(bytes)
  })
  await once(child, 'close')
  const [, total, bad] = /: (\d+) crash points, (\d+) bad/.exec(said) ?? []
  if (total === undefined) throw new Error(`crash_matrix.py did not get to its end (${mode}).`)
  tally.failed += Number(bad)
  tally.passed += Number(total) - Number(bad)
  progress(`disk calls: ${mode}`)
}

function progress(what: string): void {
  const seconds = ((performance.now() - start) / 1000).toFixed(0)
  console.log(`${what}; ${tally.passed} passed, ${tally.failed} failed so far, ${seconds} s`)
}

try {
  await signals('SIGKILL', points)
  await places()
  await signals('SIGTERM', Math.ceil(points / 5))
  for (const mode of ['kill', 'enospc', 'eio'] as const) await diskCalls(mode)
} finally {
  await server.close()
  rmSync(work, { recursive: true, force: true })
}
console.log(`calls in flight at most ${tally.mostInFlight}, repeated at most ${tally.mostRepeated}`)
console.log(`${tally.passed} passed, ${tally.failed} failed`)
process.exitCode = tally.failed === 0 ? 0 : 1
