import { expect, test } from 'vitest'
import { add, multiply, scale, sum } from './operations.ts'
import { constant, leaf, type Value } from './value.ts'

test('a value used twice gets both gradients', () => {
  const x = leaf(Float64Array.of(3))
  const square = multiply(x, x)
  add(multiply(square, square), scale(x, 5)).backward() // x⁴ + 5x
  expect(x.gradient[0]).toBe(4 * 27 + 5)
})

test('a leaf the loss does not reach has zero gradient', () => {
  const [used, unused] = [leaf(Float64Array.of(1)), leaf(Float64Array.of(1, 2))]
  scale(used, 2).backward()
  expect([...unused.gradient]).toEqual([0, 0])
})

test('calling backward twice does not double the gradient', () => {
  const x = leaf(Float64Array.of(2))
  const y = multiply(x, x)
  y.backward()
  y.backward()
  expect(x.gradient[0]).toBe(4)
})

test('constant expressions keep no history', () => {
  const value = add(constant([1]), constant([2]))
  expect(value.tracked).toBe(false)
  expect(value.sources).toEqual([])
  expect(() => value.backward()).not.toThrow()
})

test('a long chain does not exhaust the stack', () => {
  const x = leaf(Float64Array.of(1))
  let value: Value = x
  for (let i = 0; i < 20_000; i += 1) value = add(value, x)
  value.backward()
  expect(x.gradient[0]).toBe(20_001)
})

test('only a scalar has a number and a derivative', () => {
  const vector = leaf(Float64Array.of(1, 2))
  expect(() => vector.number).toThrow(RangeError)
  expect(() => vector.backward()).toThrow(RangeError)
  expect(sum(vector).number).toBe(3)
})
