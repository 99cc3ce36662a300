import { expect, test } from 'vitest'
import { digamma, logGamma } from './gamma.ts'
import { nuclearNorm } from './nuclear-norm.ts'
import { Operations } from './operations.ts'
import { deriveRandom } from './random.ts'
import { Tape } from './tape.ts'
import { type Tensor, Workspace } from './workspace.ts'

type Operation = (on: Operations, a: Tensor, b: Tensor) => Tensor

const operations: Readonly<Record<string, Operation>> = {
  sigmoid: (on, a) => on.sigmoid(a),
  relu: (on, a) => on.relu(a),
  exp: (on, a) => on.exp(a),
  square: (on, a) => on.square(a),
  affine: (on, a) => on.affine(a, -2.5, 0.5),
  'log gamma': (on, a) => on.logGamma(on.affine(on.square(a), 1, 0.3)),
  bernoulli: (on, a) => on.bernoulliLogs(a, [1, 0, 1, 1, 0, 0]),
  probability: (on, a) => on.probabilityLogs(on.sigmoid(a), [1, 0, 1, 1, 0, 0]),
  add: (on, a, b) => on.add(a, b),
  'add one entry': (on, a, b) => on.add(a, on.weightedSum([b, 0.7])),
  multiply: (on, a, b) => on.multiply(a, b),
  'multiply by one entry': (on, a, b) => on.multiply(on.weightedSum([b, 0.7]), a),
  'multiply by itself': (on, a) => on.multiply(a, a),
  beside: (on, a, b) => on.beside(a, b),
  'rows at': (on, a) => on.rowsAt(a, [1, 1, 0]),
  'mix rows': (on, a) =>
    on.mixRows(
      [
        [0.5, 2],
        [0, -1],
        [1, 0],
      ],
      a,
    ),
  dots: (on, a, b) => on.dots(a, [0, 1, 1], b, [1, 1, 0]),
  'dots with itself': (on, a) => on.dots(a, [0, 1, 0], a, [1, 1, 0]),
  'row products': (on, a, b) => on.rowProducts(a, b),
  'unit rows': (on, a) => on.unitRows(a),
  'log softmax': (on, a) => on.logSoftmax(a),
  'min max': (on, a) => on.minMax(a),
  'nuclear norm': ({ tape }, a) => nuclearNorm(tape, a),
  total: (on, a, b) => on.weightedSum([a, 0.5], [b, -3]),
}

test.each(Object.entries(operations))(
  '%s: the gradient agrees with finite differences',
  (name, operation) => {
    const random = deriveRandom(1, name)
    const start = Array.from({ length: 12 }, () => random.normal())
    const weights = Array.from({ length: 12 }, () => random.normal())
    /** Σ weight · result, and its gradient with respect to the operands. */
    const run = (values: readonly number[]) => {
      const workspace = new Workspace()
      const place = (from: number): Tensor => ({
        ...workspace.constant(values.slice(from, from + 6), 2, 3),
        gradient: workspace.zeros(6),
      })
      const [a, b] = [place(0), place(6)]
      const tape = new Tape(workspace, { recording: true })
      const result = operation(new Operations(tape), a, b)
      const size = result.rows * result.columns
      workspace.gradients(result).set(weights.slice(0, size))
      let sum = 0
      for (const [at, value] of workspace.values(result).entries()) sum += weights[at]! * value
      tape.backward()
      return { sum, gradient: [...workspace.gradients(a), ...workspace.gradients(b)] }
    }
    const { gradient } = run(start)
    const step = 1e-2
    for (const [at, value] of start.entries()) {
      const shifted = (by: number) => run(start.with(at, value + by)).sum
      const slope = (shifted(step) - shifted(-step)) / (2 * step)
      expect(gradient[at], `entry ${at}`).toBeCloseTo(slope, 2)
    }
  },
)

test('values', () => {
  const workspace = new Workspace()
  const on = new Operations(new Tape(workspace, { recording: false }))
  const x = workspace.constant([1, 2, 3, -4, 0, 5], 2, 3)
  const shown = (tensor: Tensor) => Array.from(workspace.values(tensor), (value) => Number(value.toFixed(4)))
  expect(shown(on.minMax(x))).toEqual([0.1111, 0.3333, 0.5556, -1, -0.1111, 1])
  expect(shown(on.unitRows(x))).toEqual([0.2673, 0.5345, 0.8018, -0.6247, 0, 0.7809])
  expect(shown(on.logSoftmax(x))).toEqual([-2.4076, -1.4076, -0.4076, -9.0068, -5.0068, -0.0068])
  expect(shown(on.beside(x, x))).toEqual([1, 2, 3, 1, 2, 3, -4, 0, 5, -4, 0, 5])
  expect(shown(on.bernoulliLogs(x, [1, 1, 1, 0, 0, 0]))).toEqual([
    -0.3133,
    -0.1269,
    -0.0486,
    -0.0181,
    -Number(Math.LN2.toFixed(4)),
    -5.0067,
  ])
})

test('ln Γ and its derivative', () => {
  for (const [x, factorial] of [1, 1, 2, 6, 24, 120].entries())
    expect(logGamma(x + 1)).toBeCloseTo(Math.log(factorial), 12)
  expect(logGamma(0.5)).toBeCloseTo(Math.log(Math.PI) / 2, 12)
  expect(digamma(1)).toBeCloseTo(-0.5772156649015329, 12)
  expect(digamma(0.5)).toBeCloseTo(-1.9635100260214235, 12)
})
