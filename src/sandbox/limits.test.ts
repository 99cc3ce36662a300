import { expect, test } from 'vitest'
import { hadToWait } from './limits.ts'

test('a program had to wait for a core if it was running and the machine is busy', () => {
  expect(hadToWait(0.4, 3, 8)).toBe(true)
  expect(hadToWait(0.4, 3, 1.5)).toBe(false)
  // It was asleep.
  expect(hadToWait(0.02, 3, 8)).toBe(false)
  // With fifty competing for a core, none gets a tenth of one.
  expect(hadToWait(0.05, 3, 50)).toBe(true)
  expect(hadToWait(0.02, 3, 50)).toBe(false)
})
