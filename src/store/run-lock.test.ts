import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Child } from '../../test/ledger/child.ts'
import { RunLock, RunLockedError } from './run-lock.ts'

const holderScript = new URL('../../test/ledger/lock-holder.ts', import.meta.url)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'run-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function refusal(): Promise<RunLockedError> {
  const refused = await RunLock.acquire(folder).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(RunLockedError)
  return refused as RunLockedError
}

test('a second process is refused and told who holds the lock; kill -9 frees the run', async () => {
  for (let round = 0; round < 3; round += 1) {
    const trainer = new Child(holderScript, 'run', folder)
    await trainer.untilLines(1)
    const { holder, message } = await refusal()
    expect(holder).toMatchObject({ pid: trainer.process.pid, host: hostname() })
    expect(new Date(holder!.since).toISOString()).toBe(holder!.since)
    expect(message).toContain(`process ${trainer.process.pid} on ${hostname()} since ${holder!.since}`)
    await trainer.kill()
    ;(await RunLock.acquire(folder)).release()
  }
})

test('a second lock in the same process is refused until the first is released', async () => {
  const first = await RunLock.acquire(folder)
  expect((await refusal()).holder).toMatchObject({ pid: process.pid })
  // The refusal did not free it.
  expect((await refusal()).holder).toMatchObject({ pid: process.pid })
  first.release()
  first.release()
  const second = await RunLock.acquire(folder)
  second.release()
})

test('exactly one of many concurrent attempts succeeds', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => RunLock.acquire(folder)))
  const holders = outcomes.filter((outcome) => outcome.status === 'fulfilled')
  expect(holders).toHaveLength(1)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(RunLockedError)
  holders[0]!.value.release()
})

test('folders lock independently', async () => {
  const other = mkdtempSync(join(folder, 'other-'))
  const locks = await Promise.all([RunLock.acquire(folder), RunLock.acquire(other)])
  for (const lock of locks) lock.release()
})

test('an unusable lock says what to do', async () => {
  writeFileSync(join(folder, 'lock.sqlite'), 'no database '.repeat(100))
  await expect(RunLock.acquire(folder)).rejects.toThrow(/lock\.sqlite cannot be used .*delete it/)
  await expect(RunLock.acquire(join(folder, 'none'))).rejects.toThrow(/cannot be used .*permissions/)
})
