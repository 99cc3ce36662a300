import fc from 'fast-check'
import { expect, test } from 'vitest'
import { paperTemperature, temperatureAt } from './temperature.ts'

test('the paper anneals from exactly 1.2 to exactly 1.0 over 100 updates', () => {
  expect(temperatureAt(0, paperTemperature)).toBe(1.2)
  expect(temperatureAt(99, paperTemperature)).toBe(1)
  expect(temperatureAt(33, paperTemperature)).toBeCloseTo(1.2 - 0.2 / 3, 12)
})

test('a single update samples at the start, later ones at the end', () => {
  const single = { start: 1.2, end: 1, updates: 1 }
  expect(temperatureAt(0, single)).toBe(1.2)
  expect(temperatureAt(1, single)).toBe(1)
  expect(temperatureAt(100, paperTemperature)).toBe(1)
})

test('steps are even and stay between the ends, upward too', () => {
  const temperature = fc.double({ min: 0.1, max: 5, noNaN: true })
  fc.assert(
    fc.property(temperature, temperature, fc.integer({ min: 2, max: 300 }), (start, end, updates) => {
      const schedule = { start, end, updates }
      const step = (end - start) / (updates - 1)
      for (let update = 1; update < updates; update += 1) {
        const difference = temperatureAt(update, schedule) - temperatureAt(update - 1, schedule)
        expect(difference).toBeCloseTo(step, 10)
      }
      expect(temperatureAt(0, schedule)).toBe(start)
      expect(temperatureAt(updates - 1, schedule)).toBe(end)
    }),
    { numRuns: 50 },
  )
})

test.each([
  [0, { start: 0 }, 'start is 0'],
  [0, { end: Number.NaN }, 'end is NaN'],
  [0, { start: Number.POSITIVE_INFINITY }, 'start is Infinity'],
  [0, { updates: 0 }, 'updates is 0'],
  [0, { updates: 1.5 }, 'updates is 1.5'],
  [-1, {}, 'no update -1'],
  [0.5, {}, 'no update 0.5'],
])('update %s with %j is refused by name', (update, wrong, problem) => {
  expect(() => temperatureAt(update, { ...paperTemperature, ...wrong })).toThrow(problem)
})
