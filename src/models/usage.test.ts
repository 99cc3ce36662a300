import { expect, test } from 'vitest'
import { addUsage, checkUsage, noUsage, usageOfCall } from './usage.ts'

test('plausible counts are accepted', () => {
  expect(checkUsage(0, undefined, 0)).toEqual({ usage: { input: 0, cachedInput: 0, output: 0 } })
  expect(checkUsage(10, null, 5)).toEqual({ usage: { input: 10, cachedInput: 0, output: 5 } })
  expect(checkUsage(10, 10, 5)).toEqual({ usage: { input: 10, cachedInput: 10, output: 5 } })
})

test.each([
  [-1, 0, 5],
  [1, 0, -5],
  [1.5, 0, 5],
  [Number.NaN, 0, 5],
  [1e300, 0, 5],
  [10, 11, 5],
  [10, -1, 5],
  ['10', 0, 5],
  [10, 0, undefined],
  [undefined, 0, 5],
  [null, 0, null],
  [{}, 0, []],
])('%j, %j, %j is refused', (input, cached, output) => {
  expect(checkUsage(input, cached, output)).toEqual({ warning: 'usage_invalid' })
})

test('missing counts are unknown', () => {
  expect(checkUsage(undefined, undefined, undefined)).toEqual({ warning: 'usage_missing' })
})

test('usage adds up', () => {
  const one = { input: 1, cachedInput: 2, output: 3, calls: 4, attempts: 5, failedAttempts: 6, unknown: 7 }
  expect(addUsage()).toEqual(noUsage)
  expect(addUsage(one, noUsage, one)).toEqual({
    input: 2,
    cachedInput: 4,
    output: 6,
    calls: 8,
    attempts: 10,
    failedAttempts: 12,
    unknown: 14,
  })
})

test('a call counts once, however many attempts it took', () => {
  const usage = { input: 5, cachedInput: 1, output: 2 }
  const failed = { ok: false, kind: 'timeout', message: '', durationMs: 0 } as const
  const answer = { ok: true, text: '', finish: 'stop', warnings: [], usage, durationMs: 0 } as const
  expect(usageOfCall([])).toEqual(noUsage)
  expect(usageOfCall([{ reply: failed }, { reply: answer }])).toEqual({
    ...usage,
    calls: 1,
    attempts: 2,
    failedAttempts: 1,
    unknown: 1,
  })
})
