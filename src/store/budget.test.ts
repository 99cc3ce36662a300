import { expect, test } from 'vitest'
import type { ChatReply, ChatRequest } from '../models/chat-model.ts'
import { paperDecoding } from '../models/chat-model.ts'
import type { Price } from '../models/prices.ts'
import { callModel } from '../models/retry.ts'
import { Budget } from './budget.ts'

const price: Price = {
  currency: 'EUR',
  asOf: '2026-01',
  source: 'test',
  input: 1000,
  cachedInput: 100,
  output: 2000,
}
const request: ChatRequest = {
  system: 'x'.repeat(10),
  user: 'y'.repeat(20),
  decoding: { ...paperDecoding, maxOutputTokens: 50 },
}
const usage = { input: 8, cachedInput: 2, output: 5 }
const answer: ChatReply = { ok: true, text: '', finish: 'stop', usage, warnings: [], durationMs: 1 }

test('a call counts with its maximum until settled, then with its actual use', () => {
  const budget = new Budget({ tokens: 60 }, price)
  expect(budget.exhausted()).toBe(false)
  const settle = budget.reserve(request)
  // 30 characters are 10 tokens, and 50 may come back.
  expect(budget.exhausted()).toBe(true)
  expect(budget.reached()).toBeUndefined()
  settle(answer)
  expect(budget.exhausted()).toBe(false)
  const { minutes, ...spent } = budget.spent
  expect(spent).toEqual({
    calls: 1,
    ...usage,
    unknown: 0,
    unknownAtMost: { tokens: 0, cost: { amount: 0, currency: 'EUR' } },
    cost: { amount: (6 * 1000 + 2 * 100 + 5 * 2000) / 1e6, currency: 'EUR' },
  })
  expect(minutes).toBeGreaterThanOrEqual(0)
})

test.each(['cost', 'tokens', 'calls', 'minutes'] as const)('a cap of 0 on %s is reached at once', (cap) => {
  const budget = new Budget({ [cap]: 0 }, price)
  expect(budget.reached()).toBe(cap)
  expect(budget.exhausted()).toBe(true)
})

test.each([
  ['calls', 1],
  ['tokens', 13],
  ['cost', (6 * 1000 + 2 * 100 + 5 * 2000) / 1e6],
] as const)('a cap on %s is reached exactly at the sum, not before, and without overshoot', (cap, sum) => {
  const budget = new Budget({ [cap]: sum }, price)
  expect(budget.reached()).toBeUndefined()
  budget.reserve(request)(answer)
  expect(budget.reached()).toBe(cap)
  expect(budget.overshoot(cap)).toBe(0)
  const roomy = new Budget({ [cap]: sum * 1.01 }, price)
  roomy.reserve(request)(answer)
  expect(roomy.reached()).toBeUndefined()
})

test('overshoot is given in the unit of the cap', () => {
  const budget = new Budget({ calls: 1, tokens: 20 }, price)
  for (const settle of [1, 2, 3].map(() => budget.reserve(request))) settle(answer)
  expect(budget.overshoot('calls')).toBe(2)
  expect(budget.overshoot('tokens')).toBe(3 * 13 - 20)
})

test.each([
  ['an answer without usage', { ...answer, usage: undefined }, 1],
  ['a broken connection', { ok: false, kind: 'network', message: '', durationMs: 1 }, 0],
] as const)('%s adds no tokens, but a cap counts its maximum possible use', (_, reply, calls) => {
  const budget = new Budget({ tokens: 60 }, price)
  const { usage: _usage, ...bare } = reply as ChatReply
  budget.reserve(request)(bare as ChatReply)
  const most = { tokens: 60, cost: { amount: (10 * 1000 + 50 * 2000) / 1e6, currency: 'EUR' } }
  const none = { amount: 0, currency: 'EUR' }
  expect(budget.spent).toMatchObject({ calls, input: 0, output: 0, cost: none })
  expect(budget.spent).toMatchObject({ unknown: 1, unknownAtMost: most })
  expect(budget.reached()).toBe('tokens')
})

test('an attempt that was never sent counts for nothing', () => {
  const budget = new Budget({}, price)
  const failure = { ok: false, kind: 'network', message: 'connection refused', durationMs: 1 } as const
  budget.reserve(request)({ ...failure, unsent: true })
  expect(budget.spent).toMatchObject({ calls: 0, unknown: 0, unknownAtMost: { tokens: 0 } })
})

test('an HTTP refusal costs nothing; a failure with usage counts as reported', () => {
  const budget = new Budget({}, undefined)
  budget.reserve(request)({ ok: false, kind: 'rate_limited', message: '', durationMs: 1 })
  expect(budget.spent).toMatchObject({ calls: 0, input: 0, output: 0, unknown: 0, cost: 'unpriced' })
  budget.reserve(request)({ ok: false, kind: 'bad_response', message: '', durationMs: 1, usage })
  expect(budget.spent).toMatchObject({ calls: 0, ...usage, unknown: 0 })
})

test('a client that throws releases its reservation', async () => {
  const budget = new Budget({ tokens: 1000 }, undefined)
  const model = {
    identity: { provider: 'p', model: 'm', options: {} },
    ask: () => Promise.reject(new Error('a mistake in a client')),
  }
  await expect(callModel(model, request, { meter: budget })).rejects.toThrow('a mistake in a client')
  expect(budget.spent).toMatchObject({ calls: 0, unknown: 1 })
  // Ten more would fit: nothing is reserved any more.
  expect(budget.exhausted()).toBe(false)
})

test('a call to another model is reserved, settled and recorded at that model’s price', () => {
  const model = (name: string) => ({ provider: 'p', model: name, options: {} })
  const dear = { ...price, input: 10_000, cachedInput: 1000, output: 20_000 }
  const noted: unknown[] = []
  const journal = {
    earlier: [],
    begin: (...begun: unknown[]) => noted.push(begun[2]),
    end: (_: number, { cost }: { cost: unknown }) => noted.push(cost),
  }
  const budget = new Budget({ cost: 1 }, { ...price, further: { 'p/dear': dear } }, journal)
  const settle = budget.reserve(request, model('dear'))
  // At most 10 tokens in and 50 out.
  const most = { amount: (10 * 10_000 + 50 * 20_000) / 1e6, currency: 'EUR' }
  expect(budget.exhausted()).toBe(true)
  settle(answer)
  const cost = { amount: (6 * 10_000 + 2 * 1000 + 5 * 20_000) / 1e6, currency: 'EUR' }
  expect(noted).toEqual([most, cost])
  expect(budget.spent.cost).toEqual(cost)
  budget.reserve(request, model('own'))(answer)
  expect(noted.slice(2)).toEqual([undefined, { amount: cost.amount / 10, currency: 'EUR' }])
})
