import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unitVector, unitVectorOfSum } from './unit-vector.ts'

test('keeps the direction and has length one, for entries of any size', () => {
  const entry = fc.double({ noNaN: true, noDefaultInfinity: true })
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 8 }), (vector) => {
      const unit = unitVector(vector)
      expect(Math.hypot(...unit)).toBeCloseTo(1, 5)
      const largest = Math.max(...vector.map(Math.abs))
      for (const [index, value] of vector.entries()) {
        if (largest > 0 && Math.abs(value) > largest / 1000)
          expect(Math.sign(unit[index]!)).toBe(Math.sign(value))
      }
    }),
  )
})

test('weighted sums', () => {
  const sum = unitVectorOfSum([
    { weight: 0.3, vector: [1, 0] },
    { weight: 0.4, vector: [0, 1] },
  ])
  expect(sum[0]).toBeCloseTo(0.6, 6)
  expect(sum[1]).toBeCloseTo(0.8, 6)
})
