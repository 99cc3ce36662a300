import fc from 'fast-check'
import { expect, test } from 'vitest'
import { erf } from './erf.ts'

// Fifty-digit values of the defining series, rounded to doubles.
const known: [number, number][] = [
  [1e-10, 1.1283791670955126e-10],
  [0.1, 0.1124629160182849],
  [0.5, 0.5204998778130465],
  [1, 0.8427007929497149],
  [1.5, 0.9661051464753108],
  [2, 0.9953222650189527],
  [2.5, 0.999593047982555],
  [3, 0.9999779095030014],
  [4, 0.9999999845827421],
  [5, 0.9999999999984626],
]

test.each(known)('erf(%d)', (x, expected) => {
  expect(Math.abs(erf(x) / expected - 1)).toBeLessThan(1e-15)
  expect(erf(-x)).toBe(-erf(x))
})

test('limits and special values', () => {
  expect(erf(0)).toBe(0)
  expect(erf(6)).toBe(1)
  expect(erf(Number.POSITIVE_INFINITY)).toBe(1)
  expect(erf(Number.NEGATIVE_INFINITY)).toBe(-1)
  expect(erf(Number.NaN)).toBeNaN()
})

test('never decreases, including at the switch between methods', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -7, max: 7, noNaN: true }),
      fc.double({ min: 1e-14, max: 1, noNaN: true }),
      (x, step) => {
        expect(erf(x + step) - erf(x)).toBeGreaterThanOrEqual(-1e-15)
      },
    ),
  )
  expect(Math.abs(erf(2.25) - erf(2.25 - 1e-15))).toBeLessThan(2e-15)
})
