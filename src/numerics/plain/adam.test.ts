import { expect, test } from 'vitest'
import { adamStep, freshAdam } from './adam.ts'

const settings = { learningRate: 1e-4, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
const of = (...entries: number[]) => new Map([['w', Float64Array.from(entries)]])

test('the first step has the size of the learning rate, whatever the gradient', () => {
  const [after] = adamStep(of(1, 1, 1), of(5, -0.001, 0), freshAdam, settings)
  const [large, small, none] = after.get('w')!
  expect(large).toBeCloseTo(1 - 1e-4, 10)
  expect(small).toBeCloseTo(1 + 1e-4, 8)
  expect(none).toBe(1)
})

test('moments carry over, and all tensors share one step count', () => {
  const [first, state] = adamStep(of(0), of(1), freshAdam, settings)
  const [second, later] = adamStep(first, of(0), state, settings)
  expect(later.step).toBe(2)
  expect(later.first.get('w')![0]).toBeCloseTo(0.09, 15)
  expect(later.second.get('w')![0]).toBeCloseTo(0.000999, 15)
  // m̂ = 0.09 / 0.19, v̂ = 0.000999 / 0.001999: a zero gradient still moves the weight.
  const expected = first.get('w')![0]! - (1e-4 * (0.09 / 0.19)) / (Math.sqrt(0.000999 / 0.001999) + 1e-8)
  expect(second.get('w')![0]).toBeCloseTo(expected, 15)
})

test('inputs are not modified', () => {
  const weights = of(1)
  const [, state] = adamStep(weights, of(1), freshAdam, settings)
  adamStep(weights, of(1), state, settings)
  expect(weights.get('w')![0]).toBe(1)
  expect(state.first.get('w')![0]).toBeCloseTo(0.1, 15)
  expect(freshAdam.first.size).toBe(0)
})

test('a missing gradient or one of another size is an error', () => {
  expect(() => adamStep(of(1), new Map(), freshAdam, settings)).toThrow("'w'")
  expect(() => adamStep(of(1), of(1, 2), freshAdam, settings)).toThrow("'w'")
})
