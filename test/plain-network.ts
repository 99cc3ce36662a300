import { expect } from 'vitest'
import { paperAdam } from '../src/numerics/adam.ts'
import type { Parameters } from '../src/numerics/parameters.ts'
import { adamStep, freshAdam } from '../src/numerics/plain/adam.ts'
import {
  add,
  dotProduct,
  linear,
  multiply,
  scale,
  sigmoid,
  slice,
  sum,
  tanh,
} from '../src/numerics/plain/operations.ts'
import { constant, derived, leaf, type Value } from '../src/numerics/plain/value.ts'

/** The weights of a network as doubles that can be differentiated by: the ground of a plain twin. */
export class PlainNetwork {
  readonly #leaves: Map<string, Value>

  constructor(parameters: Parameters) {
    this.#leaves = new Map(
      [...parameters.read()].map(([name, { data }]) => [name, leaf(Float64Array.from(data))]),
    )
  }

  weight(name: string): Value {
    return this.#leaves.get(name)!
  }

  linear(name: string, x: Value): Value {
    return linear(this.weight(`${name}.weight`), x, this.weight(`${name}.bias`))
  }

  /** PyTorch's GRUCell. */
  gru(name: string, x: Value, previous?: Value): Value {
    const hidden = this.weight(`${name}.bias_hh`).length / 3
    const state = previous ?? constant(new Float64Array(hidden))
    const input = linear(this.weight(`${name}.weight_ih`), x, this.weight(`${name}.bias_ih`))
    const own = linear(this.weight(`${name}.weight_hh`), state, this.weight(`${name}.bias_hh`))
    const part = (of: Value, gate: number) => slice(of, gate * hidden, hidden)
    const reset = sigmoid(add(part(input, 0), part(own, 0)))
    const update = sigmoid(add(part(input, 1), part(own, 1)))
    const fresh = tanh(add(part(input, 2), multiply(reset, part(own, 2))))
    return add(multiply(minus(update), fresh), multiply(update, state))
  }

  /** One step of Adam down the loss. `isMoved`: which tensors the optimizer knows. */
  step(
    loss: Value,
    {
      learningRate,
      isMoved = () => true,
      clip = Number.POSITIVE_INFINITY,
      weightDecay = 0,
    }: {
      readonly learningRate: number
      readonly isMoved?: (name: string) => boolean
      readonly clip?: number
      readonly weightDecay?: number
    },
  ): Map<string, Float64Array> {
    loss.backward()
    const moved = [...this.#leaves].filter(([name]) => isMoved(name))
    const length = Math.hypot(...moved.map(([, { gradient }]) => Math.hypot(...gradient)))
    const shorter = Math.min(1, clip / length)
    const decayed = (data: Float64Array) => data.map((entry) => entry * (1 - learningRate * weightDecay))
    const [after] = adamStep(
      new Map(moved.map(([name, { data }]) => [name, decayed(data)])),
      new Map(moved.map(([name, { gradient }]) => [name, gradient.map((entry) => entry * shorter)])),
      freshAdam,
      { ...paperAdam, learningRate },
    )
    return new Map([...this.#leaves].map(([name, { data }]) => [name, after.get(name) ?? data]))
  }
}

/** Single precision against double: the same to this share of a step. */
export function expectWeights(
  parameters: Parameters,
  expected: ReadonlyMap<string, Float64Array>,
  step: number,
): void {
  for (const [name, { data }] of parameters.read())
    for (const [at, value] of data.entries())
      expect(Math.abs(value - expected.get(name)![at]!), `${name}[${at}]`).toBeLessThan(0.02 * step + 1e-6)
}

/** 1 − x */
export function minus(x: Value): Value {
  return add(constant(new Float64Array(x.length).fill(1)), scale(x, -1))
}

/** max(0, x) */
export function relu(x: Value): Value {
  return entrywise(
    x,
    (entry) => Math.max(0, entry),
    (entry) => Number(entry > 0),
  )
}

export function log(x: Value): Value {
  return entrywise(x, Math.log, (entry) => 1 / entry)
}

/** x divided by its length. */
export function unit(x: Value): Value {
  const inverse = entrywise(
    dotProduct(x, x),
    (square) => 1 / Math.sqrt(square),
    (square) => -0.5 * square ** -1.5,
  )
  return multiply(inverse, x)
}

export function total(terms: readonly Value[]): Value {
  return terms.map(sum).reduce((running, term) => add(running, term))
}

/** A function of each entry, with its slope. */
export function entrywise(x: Value, f: (entry: number) => number, slope: (entry: number) => number): Value {
  return derived(x.data.map(f), [x], (gradient) => {
    for (const [at, given] of gradient.entries()) x.gradient[at]! += given * slope(x.data[at]!)
  })
}

/** Rows mixed with fixed weights: a graph convolution's step. */
export function mixed(weights: readonly (readonly number[])[], rows: readonly Value[]): Value[] {
  return weights.map((list) => rows.map((row, k) => scale(row, list[k]!)).reduce((sum, row) => add(sum, row)))
}
