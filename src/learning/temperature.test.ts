import fc from 'fast-check'
import { expect, test } from 'vitest'
import { trainingSettings } from '../settings/training.ts'
import { temperatureAt } from './temperature.ts'

const paper = trainingSettings.parse({})

test('the paper anneals from exactly 1.2 to exactly 1.0 over 100 updates', () => {
  expect(temperatureAt(0, 100, paper)).toBe(1.2)
  expect(temperatureAt(99, 100, paper)).toBe(1)
  expect(temperatureAt(33, 100, paper)).toBeCloseTo(1.2 - 0.2 / 3, 12)
})

test('a single update samples at the start, later ones at the end', () => {
  expect(temperatureAt(0, 1, paper)).toBe(1.2)
  expect(temperatureAt(1, 1, paper)).toBe(1)
  expect(temperatureAt(100, 100, paper)).toBe(1)
})

test('steps are even and stay between the ends, upward too', () => {
  const temperature = fc.double({ min: 0.1, max: 5, noNaN: true })
  fc.assert(
    fc.property(temperature, temperature, fc.integer({ min: 2, max: 300 }), (start, end, updates) => {
      const at = (update: number) =>
        temperatureAt(update, updates, { temperatureStart: start, temperatureEnd: end })
      const step = (end - start) / (updates - 1)
      for (let update = 1; update < updates; update += 1)
        expect(at(update) - at(update - 1)).toBeCloseTo(step, 10)
      expect(at(0)).toBe(start)
      expect(at(updates - 1)).toBe(end)
    }),
    { numRuns: 50 },
  )
})
