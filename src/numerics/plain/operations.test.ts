import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as operations from './operations.ts'
import { constant, leaf, type Value } from './value.ts'

const { add, concat, dotProduct, exp, gelu, layerNorm, linear, logSigmoid, logSoftmax, multiply } = operations
const { scale, sigmoid, slice, softmax, subtract, sum, tanh } = operations

type Vectors = Float64Array[]

interface Differentiable {
  /** The lengths of the operation's inputs for a vector of n entries. */
  lengths: (n: number) => number[]
  apply: (inputs: Value[]) => Value
}

const cases: Record<string, Differentiable> = {
  'linear with bias': { lengths: (n) => [3 * n, n, 3], apply: ([w, x, b]) => linear(w!, x!, b!) },
  'linear without bias': { lengths: (n) => [2 * n, n], apply: ([w, x]) => linear(w!, x!) },
  add: { lengths: (n) => [n, n, n], apply: ([a, b, c]) => add(a!, b!, c!) },
  'add of a value to itself': { lengths: (n) => [n], apply: ([a]) => add(a!, a!) },
  subtract: { lengths: (n) => [n, n], apply: ([a, b]) => subtract(a!, b!) },
  scale: { lengths: (n) => [n], apply: ([a]) => scale(a!, -1.7) },
  multiply: { lengths: (n) => [n, n], apply: ([a, b]) => multiply(a!, b!) },
  square: { lengths: (n) => [n], apply: ([a]) => multiply(a!, a!) },
  'scalar times vector': { lengths: (n) => [1, n], apply: ([a, b]) => multiply(a!, b!) },
  'vector times scalar': { lengths: (n) => [n, 1], apply: ([a, b]) => multiply(a!, b!) },
  concat: { lengths: (n) => [n, 2, n], apply: ([a, b, c]) => concat(a!, b!, c!) },
  slice: { lengths: (n) => [n + 2], apply: ([a]) => slice(a!, 1, a!.length - 2) },
  sum: { lengths: (n) => [n], apply: ([a]) => sum(a!) },
  dotProduct: { lengths: (n) => [n, n], apply: ([a, b]) => dotProduct(a!, b!) },
  sigmoid: { lengths: (n) => [n], apply: ([a]) => sigmoid(a!) },
  tanh: { lengths: (n) => [n], apply: ([a]) => tanh(a!) },
  exp: { lengths: (n) => [n], apply: ([a]) => exp(a!) },
  logSigmoid: { lengths: (n) => [n], apply: ([a]) => logSigmoid(a!) },
  gelu: { lengths: (n) => [n], apply: ([a]) => gelu(a!) },
  layerNorm: {
    lengths: (n) => [n + 1, n + 1, n + 1],
    // Spread out: if all entries nearly agree, the slopes are too steep for finite differences.
    apply: ([a, w, b]) => layerNorm(add(a!, constant([...a!.data.keys()].map((i) => 7 * i))), w!, b!),
  },
  logSoftmax: { lengths: (n) => [n], apply: ([a]) => logSoftmax(a!) },
  softmax: { lengths: (n) => [n], apply: ([a]) => softmax(a!) },
}

test('every operation is tested here', () => {
  const named = Object.keys(cases).join(' ')
  for (const name of Object.keys(operations)) expect(named).toContain(name)
})

describe.each(Object.entries(cases))('%s', (_, { lengths, apply }) => {
  // A weighted sum of the outputs: a plain one would hide errors that cancel, as in softmax.
  const loss = (inputs: Value[]) => {
    const output = apply(inputs)
    return dotProduct(output, constant(Array.from({ length: output.length }, (_, i) => 1 + 0.3 * i)))
  }
  const inputs = fc
    .integer({ min: 1, max: 5 })
    .chain((n) =>
      fc.tuple(
        ...lengths(n).map((length) =>
          fc
            .array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: length, maxLength: length })
            .map((entries) => Float64Array.from(entries)),
        ),
      ),
    )

  test('gradients agree with finite differences', () => {
    fc.assert(
      fc.property(inputs, (vectors: Vectors) => {
        const leaves = vectors.map(leaf)
        loss(leaves).backward()
        for (const [which, vector] of vectors.entries()) {
          for (const i of vector.keys()) {
            const numeric = slope((shift) => {
              const shifted = vectors.map((v) => v.slice())
              shifted[which]![i]! += shift
              return loss(shifted.map(constant)).number
            })
            expect(Math.abs(leaves[which]!.gradient[i]! - numeric)).toBeLessThan(
              1e-6 * Math.max(1, Math.abs(numeric)),
            )
          }
        }
      }),
      { numRuns: 40 },
    )
  })

  test('a constant input gets no gradient and does not affect the others', () => {
    const vectors = lengths(3).map((length, k) => Float64Array.from({ length }, (_, i) => 0.1 + k - 0.4 * i))
    const all = vectors.map(leaf)
    loss(all).backward()
    for (const fixed of vectors.keys()) {
      const mixed = vectors.map((vector, k) => (k === fixed ? constant(vector) : leaf(vector)))
      loss(mixed).backward()
      for (const [k, value] of mixed.entries()) {
        if (k === fixed) expect(value.gradient.every((g) => g === 0)).toBe(true)
        else expect(value.gradient).toEqual(all[k]!.gradient)
      }
    }
  })
})

test('logits in the hundreds stay finite', () => {
  const extreme = leaf(Float64Array.of(-900, 0, 900))
  const logs = logSoftmax(extreme)
  expect([...logs.data]).toEqual([-1800, -900, 0])
  expect([...logSigmoid(extreme).data]).toEqual([-900, -Math.LN2, 0])
  const loss = sum(add(logs, logSigmoid(extreme), multiply(exp(logs), logs), sigmoid(extreme)))
  loss.backward()
  expect(Number.isFinite(loss.number)).toBe(true)
  expect(extreme.gradient.every(Number.isFinite)).toBe(true)
})

test('known values', () => {
  expect(gelu(constant([1])).number).toBeCloseTo(0.8413447460685429, 15)
  expect([...softmax(constant([0, Math.log(3)])).data]).toEqual([0.25, 0.75])
  expect([...linear(constant([1, 2, 3, 4, 5, 6]), constant([1, 0, -1]), constant([10, 20])).data]).toEqual([
    8, 18,
  ])
  expect(layerNorm(constant([1, 3]), constant([1, 1]), constant([0, 5])).data[1]).toBeCloseTo(6, 5)
})

test('mismatched lengths are errors', () => {
  expect(() => add(constant([1]), constant([1, 2]))).toThrow(RangeError)
  expect(() => multiply(constant([1, 2, 3]), constant([1, 2]))).toThrow(RangeError)
  expect(() => dotProduct(constant([1]), constant([1, 2]))).toThrow(RangeError)
  expect(() => linear(constant([1, 2, 3]), constant([1, 2]))).toThrow(RangeError)
  expect(() => linear(constant([1, 2]), constant([1, 2]), constant([1, 2]))).toThrow(RangeError)
  expect(() => slice(constant([1, 2]), 1, 2)).toThrow(RangeError)
  expect(() => layerNorm(constant([1, 2]), constant([1]), constant([1, 2]))).toThrow(RangeError)
})

/** Central differences at two steps, extrapolated: fourth-order error. */
function slope(f: (shift: number) => number): number {
  const central = (step: number) => (f(step) - f(-step)) / (2 * step)
  return (4 * central(5e-4) - central(1e-3)) / 3
}
