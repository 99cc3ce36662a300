import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunFolder } from '../../src/store/run-folder.ts'
import { Child } from '../ledger/child.ts'
import { oneAtATime } from '../one-at-a-time.ts'
import { assertRecovers } from './after-crash.ts'
import { LoggedServer, Trainer } from './processes.ts'
import { outcome } from './small-training.ts'

// A few of each kind. `run-all.ts` has about a hundred.
oneAtATime()

const work = mkdtempSync(join(tmpdir(), 'magic-crash-'))
const reference = join(work, 'reference')
const lockHolder = new URL('../ledger/lock-holder.ts', import.meta.url)
let server: LoggedServer
let calls = 0
let count = 0
const fresh = () => join(work, `run-${++count}`)

beforeAll(async () => {
  server = await LoggedServer.start(join(work, 'server.log'), { latencyMs: 3 })
  const { code, facts, errors } = await new Trainer(reference, server.url).ended
  expect(errors).toBe('')
  expect(code).toBe(0)
  calls = facts.kept.size
})
afterAll(async () => {
  await server.close()
  rmSync(work, { recursive: true, force: true })
})

/**
 * A training that got a signal after a share of its calls. On a busy machine it may finish before the signal
 * arrives: then another one is started. `before` is how many calls the server had seen by then.
 */
async function interrupted(share: number, signal: NodeJS.Signals) {
  for (;;) {
    const folder = fresh()
    const before = server.log('asked').length
    const trainer = new Trainer(folder, server.url)
    await trainer.signalAfter(Math.floor(share * calls), signal)
    const ended = await trainer.ended
    if (ended.code !== 0) return { folder, before, ...ended }
  }
}

test.each([0.2, 0.8])(
  'SIGKILL after a share of %f of the calls: same weights, no answered call repeated',
  async (share) => {
    const { folder, before, signal, facts } = await interrupted(share, 'SIGKILL')
    expect(signal).toBe('SIGKILL')
    const { inFlight } = await assertRecovers(folder, facts, outcome(reference), server.url)
    const asked = server.log('asked').slice(before)
    const repeated = asked.length - new Set(asked).size
    expect(repeated).toBeLessThanOrEqual(inFlight)
    // Plus the self-check's.
    expect(asked).toHaveLength(calls + repeated + 1)
  },
)

test.each(['after:call:9', 'after:evaluation:3', 'before:events:2', 'after:events:1', 'after:checkpoint:2'])(
  'SIGKILL at %s',
  async (place) => {
    const folder = fresh()
    const { signal, facts } = await new Trainer(folder, server.url, {}, { MAGIC_FAIL: place }).ended
    expect(signal).toBe('SIGKILL')
    await assertRecovers(folder, facts, outcome(reference), server.url)
  },
)

test('SIGTERM ends it cleanly with its own exit code, and it can be resumed', async () => {
  const { folder, code, facts } = await interrupted(0.3, 'SIGTERM')
  expect(code).toBe(130)
  const { repeated } = await assertRecovers(folder, facts, outcome(reference), server.url)
  expect(repeated).toBe(0)
})

test('a key revoked midway: at most the calls in flight are refused, and another key continues', async () => {
  const folder = fresh()
  const strict = await LoggedServer.start(join(work, 'strict.log'), { revokeAfter: 30 })
  try {
    const { code, facts, errors } = await new Trainer(folder, strict.url, {}, { CRASH_KEY: 'first' }).ended
    expect(code).toBe(1)
    expect(errors).toMatch(/^ModelRefusedError: .*HTTP 401: The key was revoked. Check the API key/)
    expect(strict.log('refused').length).toBeLessThanOrEqual(4)
    await assertRecovers(folder, facts, outcome(reference), strict.url)
  } finally {
    await strict.close()
  }
})

test('a second trainer is refused, names the first, and leaves it alone', async () => {
  const folder = fresh()
  const first = new Trainer(folder, server.url)
  await first.signalAfter(10, 'SIGSTOP')
  const { code, errors, facts } = await new Trainer(folder, server.url).ended
  first.process.kill('SIGCONT')
  expect(code).toBe(1)
  expect(errors).toMatch(new RegExp(`^RunLockedError: .* is in use by process ${first.process.pid} on `))
  expect(facts.asked).toEqual([])
  expect((await first.ended).code).toBe(0)
  expect(outcome(folder)).toEqual(outcome(reference))
})

describe('a ledger locked by another process', () => {
  test('for a while is waited for', async () => {
    const folder = fresh()
    await new Trainer(folder, server.url, {}, { MAGIC_FAIL: 'after:call:5' }).ended
    const holder = new Child(lockHolder, 'sqlite', new RunFolder(folder).ledgerFile)
    await holder.untilLines(1)
    const trainer = new Trainer(folder, server.url)
    await wait(1000)
    await holder.kill()
    expect((await trainer.ended).code).toBe(0)
    expect(outcome(folder)).toEqual(outcome(reference))
  })

  test('forever is reported, and nothing is lost', async () => {
    const folder = fresh()
    const { facts } = await new Trainer(folder, server.url, {}, { MAGIC_FAIL: 'after:call:5' }).ended
    const holder = new Child(lockHolder, 'sqlite', new RunFolder(folder).ledgerFile)
    await holder.untilLines(1)
    const locked = await new Trainer(folder, server.url, { ledger: { patienceMs: 200 } }).ended
    await holder.kill()
    expect(locked.code).toBe(1)
    expect(locked.errors).toMatch(/^LedgerError: The ledger .*ledger.sqlite stayed locked/)
    await assertRecovers(folder, facts, outcome(reference), server.url)
  })
})
