import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type ChatReply, paperDecoding } from '../models/chat-model.ts'
import type { Price } from '../models/prices.ts'
import { Budget } from './budget.ts'
import { CallJournal, noteSpent } from './call-journal.ts'

const folder = mkdtempSync(join(tmpdir(), 'magic-calls-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let count = 0
const fresh = () => join(folder, `calls-${++count}.jsonl`)

const price: Price = {
  ...{ currency: 'EUR', asOf: '2026-01', source: 'test' },
  ...{ input: 1000, cachedInput: 100, output: 2000 },
}
const decoding = { ...paperDecoding, maxOutputTokens: 50 }
const request = { system: 'x'.repeat(10), user: 'y'.repeat(20), decoding }
const usage = { input: 8, cachedInput: 2, output: 5 }
const answer: ChatReply = { ok: true, text: '', finish: 'stop', usage, warnings: [], durationMs: 1 }
const failure = (kind: 'network' | 'server_error' | 'cancelled') =>
  ({ ok: false, kind, message: '', durationMs: 1 }) as const
const open = (path: string, caps = {}, at: Price | undefined = price) => {
  const journal = new CallJournal(path, at)
  return { journal, budget: new Budget(caps, at, journal) }
}
const nothingBefore = { replies: 0, updated: 0 }

test('what one process has spent, the next one counts, whatever became of the calls', () => {
  const path = fresh()
  const first = open(path)
  for (const reply of [answer, failure('network'), failure('server_error'), failure('cancelled'), answer])
    first.budget.reserve(request)(reply)
  const { minutes: _, ...spent } = first.budget.spent
  expect(spent).toMatchObject({ calls: 2, input: 16, output: 10, unknown: 2, unknownAtMost: { tokens: 120 } })
  first.journal.close()
  const second = open(path, { tokens: 26 + 120 })
  expect(second.budget.spent).toMatchObject(spent)
  expect(second.budget.reached()).toBe('tokens')
})

test('calls in flight at a kill are unknown, up to what was reserved for them', () => {
  const path = fresh()
  const first = open(path)
  first.budget.reserve(request)(answer)
  for (let call = 0; call < 3; call += 1) first.budget.reserve(request)
  // Killed: nothing is closed. And killed again, twice, with one more in flight each time.
  for (const more of [1, 2, 3]) {
    const { journal, budget } = open(path)
    expect(budget.spent).toMatchObject({ calls: 1, ...usage, unknown: 2 + more })
    expect(budget.spent.unknownAtMost?.tokens).toBe((2 + more) * 60)
    // Told once, by the process that comes after; the first answer is kept.
    expect(journal.take({ replies: 1, updated: 0 })).toBe(more === 1 ? 3 : 1)
    budget.reserve(request)
  }
})

test('answers that came and were not kept are told as lost once, and so are calls that were given up', () => {
  const path = fresh()
  const first = open(path)
  for (const reply of [answer, answer, answer, failure('cancelled')]) first.budget.reserve(request)(reply)
  first.journal.close()
  const second = new CallJournal(path, price)
  expect(second.take({ replies: 1, updated: 0 })).toBe(3)
  second.close()
  expect(new CallJournal(path, price).take({ replies: 1, updated: 0 })).toBe(0)
})

test('answers to control calls are not lost: nobody keeps them', () => {
  const path = fresh()
  const first = open(path)
  for (const control of [undefined, true, true] as const)
    first.budget.reserve({ ...request, isControl: control })(answer)
  first.journal.close()
  const second = open(path)
  expect(second.budget.spent.calls).toBe(3)
  expect(second.journal.take({ replies: 1, updated: 0 })).toBe(0)
})

test('answers that an update has used up are not lost, although no ledger keeps them', () => {
  const path = fresh()
  noteSpent(path, { sum: { ...new Budget({}, undefined).spent, calls: 1 }, of: 'self-check' })
  const first = open(path)
  expect(first.journal.take(nothingBefore)).toBe(0)
  for (let call = 0; call < 5; call += 1) first.budget.reserve(request)(answer)
  // The update was written down after four of them and the self-check's.
  expect(new CallJournal(path, price).take({ replies: 0, updated: 5 })).toBe(1)
})

test('what a power loss has left of a last line is cut off, and the journal goes on', () => {
  const path = fresh()
  const first = open(path)
  first.budget.reserve(request)(answer)
  const whole = readFileSync(path, 'utf8')
  appendFileSync(path, '{"end":7,"ki')
  const { budget, journal } = open(path)
  expect(readFileSync(path, 'utf8')).toBe(whole)
  budget.reserve(request)(answer)
  expect(open(path).budget.spent).toMatchObject({ calls: 2, input: 16, unknown: 0 })
  expect(journal.digest.bytes).toBe(readFileSync(path).length)
})

test('a last line that stands there twice after a crash counts once', () => {
  const path = fresh()
  const first = open(path)
  for (let call = 0; call < 2; call += 1) first.budget.reserve(request)(answer)
  first.journal.close()
  const last = readFileSync(path, 'utf8').trimEnd().split('\n').at(-1)
  appendFileSync(path, `${last}\n`)
  const { budget, journal } = open(path)
  expect(budget.spent).toMatchObject({ calls: 2, input: 16, output: 10, unknown: 0 })
  expect(journal.take({ replies: 2, updated: 0 })).toBe(0)
})

test('a damaged line is no end of the journal: it is named', () => {
  const path = fresh()
  open(path).budget.reserve(request)(answer)
  writeFileSync(path, readFileSync(path, 'utf8').replace('"begin"', '"begin'))
  expect(() => open(path)).toThrow(/Line 1 of .* is damaged/)
})

test.each([undefined, { ...price, currency: 'CNY' }])(
  'a price that was not there before counts for everything',
  (before) => {
    const path = fresh()
    const first = open(path, {}, before)
    for (const reply of [answer, failure('network')]) first.budget.reserve(request)(reply)
    const { spent } = open(path).budget
    expect(spent.cost).toEqual({ amount: (6 * 1000 + 2 * 100 + 5 * 2000) / 1e6, currency: 'EUR' })
    expect(spent.unknownAtMost?.cost).toEqual({ amount: (10 * 1000 + 50 * 2000) / 1e6, currency: 'EUR' })
  },
)

test('minutes go on from those of the last call', () => {
  const path = fresh()
  noteSpent(path, { sum: { ...new Budget({}, undefined).spent, minutes: 3 }, of: 'earlier version' })
  const { budget } = open(path, { minutes: 3 })
  expect(budget.reached()).toBe('minutes')
  budget.reserve(request)(answer)
  const { minutes } = open(path).budget.spent
  expect(minutes).toBeGreaterThanOrEqual(3)
  expect(minutes).toBeLessThan(6)
})

test('where it cannot be written the path is named', () => {
  expect(() => new CallJournal(join(folder, 'none', 'calls.jsonl'), undefined)).toThrow(
    /none\/calls.jsonl could not be written \(ENOENT/,
  )
})
