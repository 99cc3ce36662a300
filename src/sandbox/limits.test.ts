import { expect, test } from 'vitest'
import { secondsPerWallSecond } from './limits.ts'

test('wall-clock time goes slower where programs must wait for a core, and only there', () => {
  expect([0, 1, 2, 4].map((load) => secondsPerWallSecond(load, 2))).toEqual([1, 1, 1, 1])
  expect([4.1, 17, 100].map((load) => secondsPerWallSecond(load, 2))).toEqual([4, 4, 4])
  expect(secondsPerWallSecond(17, 16)).toBe(1)
})
