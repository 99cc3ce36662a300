import { expect, test } from 'vitest'
import { ConstantUsage } from './constant-usage.ts'

const usage = { input: 10, cachedInput: 0, output: 5 }

test('equal counts for requests of nearly equal length are believed', () => {
  const watch = new ConstantUsage()
  for (let i = 0; i < 100; i += 1) expect(watch.observe(1000 + i, usage)).toBe(false)
})

test('equal counts for clearly different requests are not, from the eighth on', () => {
  const watch = new ConstantUsage()
  const seen = Array.from({ length: 10 }, (_, i) => watch.observe(100 * (i + 1), usage))
  expect(seen.indexOf(true)).toBe(7)
  expect(watch.observe(5000, { ...usage, output: 6 })).toBe(false)
  expect(watch.observe(100, usage)).toBe(false)
})
