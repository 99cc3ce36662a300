import { expect } from 'vitest'
import { type Adam, paperAdam } from '../../src/numerics/adam.ts'
import type { Parameters } from '../../src/numerics/parameters.ts'
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
} from '../../src/numerics/plain/operations.ts'
import { constant, derived, leaf, type Value } from '../../src/numerics/plain/value.ts'

/** The weights of a network as differentiable doubles: the base of a plain twin. */
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

  /** The gradient of every tensor, after a `backward`. */
  get gradients(): [name: string, gradient: Float64Array][] {
    return [...this.#leaves].map(([name, { gradient }]) => [name, gradient])
  }
}

interface TwinSteps {
  /** The recipe's loss, on plain weights. */
  readonly loss: (plain: PlainNetwork) => Value
  /** One optimizer step of the network itself; returns its loss. */
  readonly learn: () => number
  readonly learningRate: number
  /** The tensors the optimizer changes. */
  readonly isMoved?: (name: string) => boolean
  readonly clip?: number
  readonly weightDecay?: number
}

const steps = 3

/**
 * Runs three steps of a network and checks each against a plain twin in doubles: the loss; every entry of
 * the gradient, read from Adam's first moments; and every weight. Each step starts from the network's own
 * weights and moments, so that rounding does not accumulate. (Weights after one step would show only the
 * signs of a gradient.)
 */
export function expectTwinSteps(
  { parameters, adam }: { readonly parameters: Parameters; readonly adam: Adam },
  { loss: lossOf, learn, learningRate, isMoved = () => true, clip = Infinity, weightDecay = 0 }: TwinSteps,
): void {
  const { beta1, beta2, epsilon } = paperAdam
  for (let step = 1; step <= steps; step += 1) {
    const plain = new PlainNetwork(parameters)
    const [weights, before] = [parameters.read(), adam.read()]
    const loss = lossOf(plain)
    loss.backward()
    expect(Math.abs(learn() - loss.number), `loss ${step}`).toBeLessThan(1e-4 * (1 + Math.abs(loss.number)))
    const [moved, after] = [parameters.read(), adam.read()]
    const whole = Math.hypot(...plain.gradients.map(([, gradient]) => Math.hypot(...gradient)))
    let at = 0
    const wrong: string[] = []
    for (const [name, gradient] of plain.gradients) {
      const share = isMoved(name) ? Math.min(1, clip / whole) : 0
      const largest = share * Math.max(...gradient.map(Math.abs))
      const [from, to] = [weights.get(name)!.data, moved.get(name)!.data]
      for (const [entry, unclipped] of gradient.entries()) {
        const value = share * unclipped
        const check = (what: string, difference: number, allowed: number) => {
          if (!(Math.abs(difference) < allowed)) wrong.push(`${what} of ${name}[${entry}] by ${difference}`)
        }
        const [first, second] = [after.first[at]!, after.second[at]!]
        const seen = (first - beta1 * before.first[at]!) / (1 - beta1)
        check('gradient', seen - value, 2e-3 * largest + 1e-6)
        const square = beta2 * before.second[at]! + (1 - beta2) * value ** 2
        check('second moment', second - square, 1e-5 * largest ** 2 + 1e-10)
        const length = Math.sqrt(second / (1 - beta2 ** step)) + epsilon
        const down = (learningRate * first) / (1 - beta1 ** step) / length
        const decayed = from[entry]! * (1 - learningRate * weightDecay)
        check('weight', to[entry]! - (decayed - down), 1e-3 * learningRate + 1e-6 * Math.abs(decayed) + 1e-9)
        at += 1
      }
    }
    expect(wrong.slice(0, 5), `step ${step}`).toEqual([])
    expect(at).toBe(after.first.length)
  }
}

/** Sets every weight to zero, so that all choices are equally likely. */
export function withoutWeights(parameters: Parameters): void {
  const weights = [...parameters.read()]
  parameters.write(new Map(weights.map(([name, { shape, data }]) => [name, { shape, data: data.fill(0) }])))
}

/** g = σ(h·t/d), (1 − g)h + g·t */
export function gatedFusion(history: Value, task: Value): Value {
  const gate = sigmoid(scale(dotProduct(history, task), 1 / history.length))
  return add(multiply(minus(gate), history), multiply(gate, task))
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

/** Rows mixed with fixed weights: one step of a graph convolution. */
export function mixed(weights: readonly (readonly number[])[], rows: readonly Value[]): Value[] {
  return weights.map((list) => rows.map((row, k) => scale(row, list[k]!)).reduce((sum, row) => add(sum, row)))
}
