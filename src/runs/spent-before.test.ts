import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sampleAnswer } from '../../test/ledger/samples.ts'
import type { Price } from '../execution/models/prices.ts'
import { MemoryLedger } from '../ledger/memory.ts'
import type { Spent } from './budget.ts'
import { spentBefore } from './spent-before.ts'

const folder = mkdtempSync(join(tmpdir(), 'magic-spent-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const events = join(folder, 'events.jsonl')
const none = join(folder, 'none.jsonl')
const price: Price = {
  currency: 'EUR',
  asOf: '2026-01',
  source: 't',
  input: 100,
  cachedInput: 0,
  output: 200,
}
const noTokens = { input: 0, cachedInput: 0, output: 0 }

/** Each answer used 10 tokens in, 4 of them cached, and 5 out. */
async function ledgerWith(answers: number): Promise<MemoryLedger> {
  const ledger = new MemoryLedger()
  for (let number = 0; number < answers; number += 1)
    await ledger.keepReply(`request-${number}`, sampleAnswer(number))
  return ledger
}

function told(spent: Partial<Spent>, untold = noTokens): void {
  const whole = { calls: 0, ...noTokens, unknown: 0, cost: 'unpriced', minutes: 0, ...spent }
  writeFileSync(events, `${JSON.stringify({ type: 'update', update: 0, spent: whole, untold })}\n`)
}

test('a run that has just begun has spent nothing', async () => {
  const { spent, untold } = await spentBefore(none, await ledgerWith(0), price)
  const cost = { amount: 0, currency: 'EUR' }
  expect(spent).toEqual({ calls: 0, ...noTokens, unknown: 0, cost, minutes: 0 })
  expect(untold).toEqual(noTokens)
})

test('a run that was killed before its first update has spent what its answers tell', async () => {
  const { spent } = await spentBefore(none, await ledgerWith(3), price)
  expect(spent).toMatchObject({ calls: 3, input: 30, cachedInput: 12, output: 15 })
  expect(spent.cost).toEqual({ amount: (18 * 100 + 15 * 200) / 1e6, currency: 'EUR' })
})

test('what the last event told counts as it was then, and later answers come on top', async () => {
  const untold = { input: 7, cachedInput: 0, output: 9 }
  // Two answers, and failed attempts, at a price of then.
  const cost = { amount: 1, currency: 'EUR' }
  told({ calls: 2, input: 27, cachedInput: 8, output: 19, unknown: 1, minutes: 4, cost }, untold)
  const now = await spentBefore(events, await ledgerWith(3), price)
  expect(now.untold).toEqual(untold)
  expect(now.spent).toMatchObject({
    calls: 3,
    input: 37,
    cachedInput: 12,
    output: 24,
    unknown: 1,
    minutes: 4,
  })
  const later = (6 * 100 + 5 * 200) / 1e6
  expect(now.spent.cost).toEqual({ amount: 1 + later, currency: 'EUR' })
})

test('it never shrinks: a ledger that was lost has not given its money back', async () => {
  told({ calls: 9, input: 90, cachedInput: 36, output: 45, cost: { amount: 1, currency: 'EUR' } })
  const { spent } = await spentBefore(events, await ledgerWith(1), price)
  expect(spent).toMatchObject({ calls: 9, input: 90, output: 45, cost: { amount: 1, currency: 'EUR' } })
})

test.each([['unpriced'], [{ amount: 5, currency: 'CNY' }]] as const)(
  'a price that was not there before counts for everything (%j)',
  async (cost) => {
    told({ calls: 3, input: 30, cachedInput: 12, output: 15, cost })
    const { spent } = await spentBefore(events, await ledgerWith(3), price)
    expect(spent.cost).toEqual({ amount: (18 * 100 + 15 * 200) / 1e6, currency: 'EUR' })
  },
)
