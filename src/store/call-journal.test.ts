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

test('spending carries over to the next process, whatever happened to the calls', () => {
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

test('calls in flight at a kill are unknown, up to their reservation', () => {
  const path = fresh()
  const first = open(path)
  first.budget.reserve(request)(answer)
  for (let call = 0; call < 3; call += 1) first.budget.reserve(request)
  // Killed without closing, then killed twice more with another call in flight each time.
  for (const more of [1, 2, 3]) {
    const { journal, budget } = open(path)
    expect(budget.spent).toMatchObject({ calls: 1, ...usage, unknown: 2 + more })
    expect(budget.spent.unknownAtMost?.tokens).toBe((2 + more) * 60)
    // Reported once, by the next process; the first answer is kept.
    expect(journal.take({ replies: 1, updated: 0 })).toBe(more === 1 ? 3 : 1)
    budget.reserve(request)
  }
})

test('answers that were not kept are reported as lost once, and so are cancelled calls', () => {
  const path = fresh()
  const first = open(path)
  for (const reply of [answer, answer, answer, failure('cancelled')]) first.budget.reserve(request)(reply)
  first.journal.close()
  const second = new CallJournal(path, price)
  expect(second.take({ replies: 1, updated: 0 })).toBe(3)
  second.close()
  expect(new CallJournal(path, price).take({ replies: 1, updated: 0 })).toBe(0)
})

test('answers to control calls are never lost, because nothing keeps them', () => {
  const path = fresh()
  const first = open(path)
  for (const control of [undefined, true, true] as const)
    first.budget.reserve({ ...request, isControl: control })(answer)
  first.journal.close()
  const second = open(path)
  expect(second.budget.spent.calls).toBe(3)
  expect(second.journal.take({ replies: 1, updated: 0 })).toBe(0)
})

test('answers used by an update are not lost, although no ledger keeps them', () => {
  const path = fresh()
  noteSpent(path, { sum: { ...new Budget({}, undefined).spent, calls: 1 }, of: 'self-check' })
  const first = open(path)
  expect(first.journal.take(nothingBefore)).toBe(0)
  for (let call = 0; call < 5; call += 1) first.budget.reserve(request)(answer)
  // The update was recorded after four of them and the self-check's.
  expect(new CallJournal(path, price).take({ replies: 0, updated: 5 })).toBe(1)
})

test('a last line torn by a power loss is cut off, and the journal continues', () => {
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

test('a last line duplicated by a crash counts once', () => {
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

test('a damaged line does not end the journal: it is named', () => {
  const path = fresh()
  open(path).budget.reserve(request)(answer)
  writeFileSync(path, readFileSync(path, 'utf8').replace('"begin"', '"begin'))
  expect(() => open(path)).toThrow(/Line 1 of .* is damaged/)
})

test.each([undefined, { ...price, currency: 'CNY' }])(
  'a price added later applies to earlier calls',
  (before) => {
    const path = fresh()
    const first = open(path, {}, before)
    for (const reply of [answer, failure('network')]) first.budget.reserve(request)(reply)
    const { spent } = open(path).budget
    expect(spent.cost).toEqual({ amount: (6 * 1000 + 2 * 100 + 5 * 2000) / 1e6, currency: 'EUR' })
    expect(spent.unknownAtMost?.cost).toEqual({ amount: (10 * 1000 + 50 * 2000) / 1e6, currency: 'EUR' })
  },
)

test('minutes continue from the last call', () => {
  const path = fresh()
  noteSpent(path, { sum: { ...new Budget({}, undefined).spent, minutes: 3 }, of: 'earlier version' })
  const { budget } = open(path, { minutes: 3 })
  expect(budget.reached()).toBe('minutes')
  budget.reserve(request)(answer)
  const { minutes } = open(path).budget.spent
  expect(minutes).toBeGreaterThanOrEqual(3)
  expect(minutes).toBeLessThan(6)
})

test('an unwritable path is named', () => {
  expect(() => new CallJournal(join(folder, 'none', 'calls.jsonl'), undefined)).toThrow(
    /none\/calls.jsonl could not be written \(ENOENT/,
  )
})
