import { expect, test } from 'vitest'
import { type ChatReply, type ChatRequest, cancelled } from '../models/chat-model.ts'
import { mostOf } from '../store/budget.ts'
import { CapReached, Spending } from './spending.ts'

const request: ChatRequest = {
  ...{ system: 'Be brief.', user: 'What is 6 times 7?' },
  decoding: { temperature: 0, maxOutputTokens: 100, thinking: false, json: true },
}
const { input, output } = mostOf(request)
const most = input + output
const reply: ChatReply = {
  ...{ ok: true, text: '42', finish: 'stop', warnings: [], durationMs: 1 },
  usage: { input: 5, cachedInput: 0, output: 1 },
}

function capOf(reserve: () => unknown): CapReached {
  try {
    reserve()
  } catch (error) {
    if (error instanceof CapReached) return error
    throw error
  }
  throw new Error('There was no cap.')
}

test.each([
  ['request', { request: { tokens: 2 * most }, day: {} }],
  ['day', { request: {}, day: { tokens: 2 * most } }],
])('a cap per %s counts the calls in flight when it is reached', (_, caps) => {
  const meter = new Spending(caps, undefined).requestMeter()!
  meter.reserve(request)(reply)
  const settle = meter.reserve(request)
  const reached = capOf(() => meter.reserve(request))
  expect(reached.spent).toMatchObject({ calls: 1, input: 5, unknown: 1, unknownAtMost: { tokens: most } })
  expect(reached.body).toMatchObject({ magic: { spent: { calls: 1, unknown: 1 } } })
  // Cut off by the cap, it may still have been charged.
  settle(cancelled)
  expect(reached.spent).toMatchObject({ calls: 1, unknown: 1, unknownAtMost: { tokens: most } })
})

test('a cap per request says how large it is, and what the next call may take', () => {
  const meter = new Spending({ request: { tokens: 50 }, day: {} }, undefined).requestMeter()!
  expect(capOf(() => meter.reserve(request)).message).toBe(
    `The answer would exceed the cap per request (50 tokens): its next call may take up to ${most} tokens.`,
  )
})

test('a call that ends before the error is written counts with its usage', () => {
  const meter = new Spending({ request: { tokens: 2.5 * most }, day: {} }, undefined).requestMeter()!
  const settles = [meter.reserve(request), meter.reserve(request)]
  const reached = capOf(() => meter.reserve(request))
  for (const settle of settles) settle(reply)
  expect(reached.spent).toMatchObject({ calls: 2, input: 10, output: 2, unknown: 0 })
})

test('a daily cap that is already reached costs the request nothing', () => {
  const spending = new Spending({ request: {}, day: { tokens: 3 } }, undefined)
  expect(() => spending.requestMeter()!.reserve(request)).toThrow(CapReached)
  expect(() => spending.assertLeft()).not.toThrow()
})
