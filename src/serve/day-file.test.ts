import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ChatReply, type ChatRequest, paperDecoding } from '../models/chat-model.ts'
import type { Price } from '../models/prices.ts'
import { Spending } from './spending.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'day-'))
  path = join(folder, 'state', 'day.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

const price: Price = {
  ...{ currency: 'EUR', asOf: '2026-11', source: 'test', input: 1000, cachedInput: 1000, output: 1000 },
}
/** At most 100 + 900 tokens, which is one euro. */
const request: ChatRequest = {
  ...{ system: 'x'.repeat(150), user: 'x'.repeat(150), decoding: { ...paperDecoding, maxOutputTokens: 900 } },
}
const reply: ChatReply = {
  ...{ ok: true, text: '', finish: 'stop', warnings: [], durationMs: 0 },
  usage: { input: 90, cachedInput: 0, output: 10 },
}
let now = new Date('2026-11-16T12:00:00Z')
const spending = (day: { tokens?: number; cost?: number }) =>
  new Spending({ request: {}, day }, price, path, () => now)
const kept = () => JSON.parse(readFileSync(path, 'utf8'))

/** The number of calls of 100 tokens that succeed. */
function calls(from: Spending, most = 1000): number {
  for (let made = 0; made < most; made += 1) {
    try {
      from.requestMeter()!.reserve(request)(reply)
    } catch (error) {
      expect(error).toMatchObject({ status: 429, code: 'insufficient_quota' })
      return made
    }
  }
  return most
}

test('a cap holds in tokens and in money', () => {
  // A call is refused if its maximum use would exceed the cap.
  expect(calls(spending({ tokens: 10_000 }))).toBe(90)
  rmSync(path)
  // Sums of 0.1 are not exact.
  expect([90, 91]).toContain(calls(spending({ cost: 10 })))
})

test('it holds across restarts: closing loses nothing, and a kill forgets nothing', () => {
  const cap = { tokens: 10_000 }
  const first = spending(cap)
  expect(calls(first, 40)).toBe(40)
  first.close()
  expect(kept()).toMatchObject({ day: '2026-11-16', tokens: 4000, money: expect.closeTo(4), currency: 'EUR' })
  // Killed with two calls in flight: each may have used a thousand tokens.
  const second = spending(cap)
  expect(calls(second, 10)).toBe(10)
  const meter = second.requestMeter()!
  meter.reserve(request)
  meter.reserve(request)
  expect(kept().tokens).toBeGreaterThanOrEqual(7000)
  const after = calls(spending(cap))
  expect(after).toBeGreaterThan(15)
  expect(4000 + 1000 + 2000 + after * 100).toBeLessThanOrEqual(10_000)
})

test('repeated kills cannot exceed it', () => {
  let made = 0
  for (let life = 0; life < 200; life += 1) made += calls(spending({ tokens: 10_000 }), 1)
  expect(made * 100).toBeLessThanOrEqual(10_000)
  expect(made).toBeGreaterThan(5)
})

test('it resets at midnight UTC', () => {
  const from = spending({ tokens: 2000 })
  now = new Date('2026-11-16T23:59:59Z')
  expect(calls(from)).toBe(10)
  now = new Date('2026-11-17T00:00:00Z')
  expect(calls(from)).toBe(10)
  expect(kept().day).toBe('2026-11-17')
  now = new Date('2026-11-16T12:00:00Z')
})

test('a failed call costs nothing', () => {
  const from = spending({ tokens: 10_000 })
  from.requestMeter()!.reserve(request)({
    ok: false,
    kind: 'network',
    message: '',
    unsent: true,
    durationMs: 0,
  })
  from.requestMeter()!.reserve(request)({ ok: false, kind: 'server_error', message: '', durationMs: 0 })
  from.close()
  expect(kept().tokens).toBe(0)
})

test('an untrustworthy file is refused by name', () => {
  spending({ tokens: 1 }).close()
  for (const text of [
    '',
    '{',
    '{"tokens": -1}',
    '{"format":"magic-day-1","day":"2026-11-16","tokens":null,"money":0,"currency":null}',
  ]) {
    writeFileSync(path, text)
    expect(() => spending({ tokens: 1 })).toThrow(`${path} is damaged`)
  }
  writeFileSync(
    path,
    JSON.stringify({ format: 'magic-day-1', day: '2026-11-16', tokens: 1, money: 1, currency: 'USD' }),
  )
  expect(() => spending({ tokens: 1 })).toThrow(/USD.*EUR.*--state-dir/)
})
