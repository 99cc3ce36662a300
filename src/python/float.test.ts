import fc from 'fast-check'
import { expect, test } from 'vitest'
import { numpyRound, pythonFixed, pythonFloatText, pythonNumberText, pythonRound } from './float.ts'

test('floats are printed like Python does', () => {
  const texts = [2019, 0.1, 1e15, 1e16, 1e22, 0.0001, 0.00001, 1.5e-7, 5e-324, -0, 123456789.125].map(
    pythonFloatText,
  )
  expect(texts).toEqual([
    '2019.0',
    '0.1',
    '1000000000000000.0',
    '1e+16',
    '1e+22',
    '0.0001',
    '1e-05',
    '1.5e-07',
    '5e-324',
    '-0.0',
    '123456789.125',
  ])
  expect([Infinity, -Infinity, NaN].map(pythonFloatText)).toEqual(['inf', '-inf', 'nan'])
})

test('a JSON number is an integer or a float depending on its spelling', () => {
  expect(['2', '2.0', '-0', '1e3', '123456789012345678901234567890'].map(pythonNumberText)).toEqual([
    '2',
    '2.0',
    '0',
    '1000.0',
    '123456789012345678901234567890',
  ])
})

test('ties round to even on the exact value of the double', () => {
  // toFixed gives 0.13, and 1.005 is stored below its decimal value.
  expect([0.125, 0.375, 1.005, 2.675, -0.125].map((value) => pythonFixed(value, 2))).toEqual([
    '0.12',
    '0.38',
    '1.00',
    '2.67',
    '-0.12',
  ])
  expect([0.03125, 0.09375, -0.00001].map((value) => pythonFixed(value, 4))).toEqual([
    '0.0312',
    '0.0938',
    '-0.0000',
  ])
  expect([0.5, 1.5, 2.5].map((value) => pythonFixed(value, 0))).toEqual(['0', '2', '2'])
  expect([1e21, 1e22].map((value) => pythonFixed(value, 1))).toEqual([
    `1${'0'.repeat(21)}.0`,
    `1${'0'.repeat(22)}.0`,
  ])
})

test('a float rounds to the double nearest to its decimal', () => {
  expect([0.125, 2.675, 1e300, Infinity].map((value) => pythonRound(value, 2))).toEqual([
    0.12,
    2.67,
    1e300,
    Infinity,
  ])
  expect(Object.is(pythonRound(-0.001, 2), -0)).toBe(true)
})

test('numpy multiplies before rounding, and so differs from Python', () => {
  const values = [0.015, 0.025, 0.495, 0.575, 2 / 3]
  expect(values.map((value) => numpyRound(value, 2))).toEqual([0.02, 0.02, 0.5, 0.57, 0.67])
  expect(values.map((value) => pythonRound(value, 2))).toEqual([0.01, 0.03, 0.49, 0.57, 0.67])
})

/** The slow twin: the double as a fraction of bigints, rounded by division. */
function slowFixed(value: number, digits: number): string {
  let denominator = 1n
  let scaled = Math.abs(value)
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    denominator *= 2n
  }
  const numerator = BigInt(scaled) * 10n ** BigInt(digits)
  const quotient = numerator / denominator
  const twice = (numerator % denominator) * 2n
  const up = twice > denominator || (twice === denominator && quotient % 2n === 1n)
  const text = (up ? quotient + 1n : quotient).toString().padStart(digits + 1, '0')
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  return `${sign}${text.slice(0, text.length - digits)}.${text.slice(text.length - digits)}`
}

test('agrees with rational arithmetic', () => {
  const values = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e25, max: 1e25 }),
    fc.tuple(fc.integer(), fc.constantFrom(2, 4, 8, 16, 32, 64)).map(([a, b]) => a / b),
    fc.tuple(fc.integer(), fc.integer({ min: 0, max: 7 })).map(([a, b]) => a / 10 ** b),
  )
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 6 }), (value, digits) => {
      expect(pythonFixed(value, digits)).toBe(slowFixed(value, digits))
      expect(pythonRound(value, digits)).toBe(
        Math.abs(value) < 2 ** 52 ? Number(slowFixed(value, digits)) : value,
      )
    }),
    { numRuns: 3000 },
  )
})
