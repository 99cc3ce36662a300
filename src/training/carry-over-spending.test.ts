import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sampleAnswer } from '../../test/ledger/samples.ts'
import type { Price } from '../models/prices.ts'
import { Budget, type Spent } from '../store/budget.ts'
import { CallJournal } from '../store/call-journal.ts'
import { SqliteLedger } from '../store/ledger/sqlite.ts'
import { RunFolder } from '../store/run-folder.ts'
import { carryOverSpending } from './carry-over-spending.ts'

const work = mkdtempSync(join(tmpdir(), 'magic-spent-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))
const fresh = () => new RunFolder(mkdtempSync(join(work, 'run-')))
const price: Price = {
  ...{ currency: 'EUR', asOf: '2026-01', source: 't' },
  ...{ input: 100, cachedInput: 0, output: 200 },
}

/** Each answer used 10 tokens in, 4 of them cached, and 5 out. */
async function ledgerWith(answers: number): Promise<SqliteLedger> {
  const ledger = await SqliteLedger.open(':memory:')
  for (let number = 0; number < answers; number += 1)
    await ledger.keepReply(`request-${number}`, sampleAnswer(number))
  return ledger
}

/** The spending in the last event of an earlier version. */
function told(folder: RunFolder, spent: Partial<Spent>): void {
  const none = { calls: 0, input: 0, cachedInput: 0, output: 0, unknown: 0, cost: 'unpriced', minutes: 0 }
  writeFileSync(
    folder.eventsFile,
    `${JSON.stringify({ type: 'update', update: 0, spent: { ...none, ...spent } })}\n`,
  )
}

function spentIn(folder: RunFolder): Spent {
  return new Budget({}, price, new CallJournal(folder.callsFile, price)).spent
}

test('a new run has spent nothing and gets no journal', async () => {
  const folder = fresh()
  await carryOverSpending(folder, await ledgerWith(0))
  expect(existsSync(folder.callsFile)).toBe(false)
})

test('a run killed before its first update has spent what its answers report', async () => {
  const folder = fresh()
  await carryOverSpending(folder, await ledgerWith(3))
  const cost = { amount: (18 * 100 + 15 * 200) / 1e6, currency: 'EUR' }
  expect(spentIn(folder)).toMatchObject({ calls: 3, input: 30, cachedInput: 12, output: 15, cost })
})

test('spending in the last event is carried over as it was', async () => {
  const folder = fresh()
  const cost = { amount: 1, currency: 'EUR' }
  const then = { calls: 3, input: 37, cachedInput: 12, output: 24, unknown: 1, minutes: 4, cost }
  told(folder, then)
  await carryOverSpending(folder, await ledgerWith(3))
  const { minutes, ...spent } = spentIn(folder)
  expect(spent).toMatchObject({ calls: 3, input: 37, cachedInput: 12, output: 24, unknown: 1, cost })
  expect(minutes).toBeGreaterThanOrEqual(4)
})

test('spending never shrinks, even if the ledger is lost', async () => {
  const folder = fresh()
  told(folder, { calls: 9, input: 90, cachedInput: 36, output: 45, cost: { amount: 1, currency: 'EUR' } })
  await carryOverSpending(folder, await ledgerWith(1))
  expect(spentIn(folder)).toMatchObject({ calls: 9, input: 90, output: 45, cost: { amount: 1 } })
})

test('calls marked as in flight are unknown', async () => {
  const folder = fresh()
  writeFileSync(folder.earlierCallsFile, '+++++++--')
  await carryOverSpending(folder, await ledgerWith(3))
  expect(spentIn(folder)).toMatchObject({ calls: 3, unknown: 2 })
})

test('a run with a journal is left alone', async () => {
  const folder = fresh()
  await carryOverSpending(folder, await ledgerWith(1))
  const before = readFileSync(folder.callsFile, 'utf8')
  await carryOverSpending(folder, await ledgerWith(3))
  expect(readFileSync(folder.callsFile, 'utf8')).toBe(before)
})
