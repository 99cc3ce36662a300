import fc from 'fast-check'
import { expect, test } from 'vitest'
import { movingMean, sparkline } from './series.ts'

const rising = Array.from({ length: 40 }, (_, index) => index / 100)
const anySeries = fc.array(fc.oneof(fc.double(), fc.integer({ min: -5, max: 5 })), { maxLength: 400 })

test.each([
  [[], ''],
  [[Number.NaN], ''],
  [[7], '▄'],
  [[2, 2, 2], '▄▄▄'],
  [[0, 1, 2, 3, 4, 5, 6, 7], '▁▂▃▄▅▆▇█'],
  [[Number.MAX_VALUE, -Number.MAX_VALUE], '█▁'],
])('sparkline of %o is "%s"', (values, text) => expect(sparkline(values, 60)).toBe(text))

test('a long series is condensed', () => {
  expect(sparkline(rising, 8)).toBe('▁▂▃▄▅▆▇█')
  fc.assert(
    fc.property(anySeries, fc.integer({ min: -3, max: 80 }), (series, width) => {
      expect(sparkline(series, width).length).toBeLessThanOrEqual(Math.max(0, width))
    }),
  )
})

test('a moving mean covers only full windows', () => {
  expect(movingMean([1, 3, 5, 7], 2)).toEqual([2, 4, 6])
  expect(movingMean([1, 3], 1)).toEqual([1, 3])
  expect(movingMean([1], 2)).toEqual([])
})
