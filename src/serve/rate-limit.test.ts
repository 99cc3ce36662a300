import { expect, test } from 'vitest'
import { RateLimit } from './rate-limit.ts'

test('allows a burst of one minute’s requests, then an even rate, per client', () => {
  let now = 0
  const limit = new RateLimit(6, () => now)
  for (let number = 0; number < 6; number += 1) expect(limit.take('a')).toBeUndefined()
  expect(limit.take('a')).toBe(10)
  expect(limit.take('b')).toBeUndefined()
  now += 9_500
  expect(limit.take('a')).toBe(1)
  now += 501
  expect(limit.take('a')).toBeUndefined()
  expect(limit.take('a')).toBe(10)
  now += 1e9
  for (let number = 0; number < 6; number += 1) expect(limit.take('a')).toBeUndefined()
  expect(limit.take('a')).toBe(10)
})

test('refusals do not extend the wait', () => {
  let now = 0
  const limit = new RateLimit(60, () => now)
  for (let number = 0; number < 1000; number += 1) limit.take('a')
  now += 1_001
  expect(limit.take('a')).toBeUndefined()
})

test('many clients use bounded memory', () => {
  const limit = new RateLimit(1, () => 0)
  for (let number = 0; number < 30_000; number += 1) limit.take(`client ${number}`)
  // The oldest are forgotten, the newest are not.
  expect(limit.take('client 29999')).toBe(60)
  expect(limit.take('client 0')).toBeUndefined()
})
