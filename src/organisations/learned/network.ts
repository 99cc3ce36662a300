import { requireFinite } from '../../learning/finite.ts'
import { Adam, paperAdam } from '../../numerics/adam.ts'
import { Operations } from '../../numerics/operations.ts'
import { type Float32Parameters, Parameters, type Shapes, sizeOf } from '../../numerics/parameters.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { Tape } from '../../numerics/tape.ts'
import { type Tensor, Workspace } from '../../numerics/workspace.ts'

export interface NetworkOptions {
  readonly seed: number
  readonly learningRate: number
  /** Weight decay of AdamW, multiplied by the learning rate. */
  readonly weightDecay?: number
  /** Maximum norm of the gradient. */
  readonly clip?: number
  /** Tensors that keep their initial values. */
  readonly frozen?: (name: string) => boolean
  /** Fixed initial values, instead of random ones. */
  readonly initial?: (name: string) => number | undefined
}

/** A network's weights and optimizer, with forward and backward passes. Each pass frees its memory at the end. */
export class Network {
  readonly workspace = new Workspace()
  readonly parameters: Parameters
  readonly adam: Adam
  readonly #options: NetworkOptions

  /** Sorts the shapes by name, so that checkpoint and optimizer have the same order. */
  constructor(shapes: Readonly<Record<string, readonly number[]>>, options: NetworkOptions) {
    const sorted: Shapes = new Map(Object.entries(shapes).sort(([a], [b]) => (a < b ? -1 : 1)))
    this.parameters = new Parameters(this.workspace, sorted, { frozen: false })
    this.parameters.write(initialValues(sorted, options))
    this.adam = new Adam(this.workspace, this.parameters.block, {
      ...paperAdam,
      learningRate: options.learningRate,
    })
    this.#options = options
  }

  /** Runs a pass without gradients. */
  run<Result>(pass: (layers: Layers) => Result): Result {
    return this.#pass(false, pass)
  }

  /** One optimizer step on a loss, which it returns. Throws if the step is not finite; then no weight changes. */
  learn(loss: (layers: Layers) => Tensor, learningRate: number = this.#options.learningRate): number {
    return this.#pass(true, (layers) => {
      const result = loss(layers)
      const value = requireFinite(layers.values(result)[0]!, 'loss')
      this.workspace.gradients(result)[0] = 1
      layers.tape.backward()
      this.#step(learningRate)
      return value
    })
  }

  /** Resets the optimizer for a new stage of a training. */
  restartOptimizer(): void {
    const { columns } = this.parameters.block
    this.adam.write({ step: 0, first: new Float32Array(columns), second: new Float32Array(columns) })
  }

  #step(learningRate: number): void {
    const { clip, weightDecay = 0 } = this.#options
    const gradients = this.workspace.gradients(this.parameters.block)
    let squares = 0
    for (let at = 0; at < gradients.length; at += 1) squares += gradients[at]! ** 2
    const length = Math.sqrt(squares)
    if (!Number.isFinite(length)) gradients.fill(0)
    requireFinite(length, 'gradient')
    if (clip !== undefined && length > clip)
      for (let at = 0; at < gradients.length; at += 1) gradients[at]! *= clip / length
    if (weightDecay > 0) {
      const values = this.workspace.values(this.parameters.block)
      for (let at = 0; at < values.length; at += 1) values[at]! *= 1 - learningRate * weightDecay
    }
    this.adam.step(learningRate)
    this.parameters.markChanged()
  }

  #pass<Result>(recording: boolean, pass: (layers: Layers) => Result): Result {
    const mark = this.workspace.mark()
    try {
      const tape = new Tape(this.workspace, { recording })
      return pass(new Layers(tape, this.parameters, this.#options.frozen))
    } finally {
      this.workspace.release(mark)
    }
  }
}

/** The usual layers, each with the tensors of its name. */
export class Layers extends Operations {
  readonly #parameters: Parameters
  readonly #frozen: (name: string) => boolean

  constructor(tape: Tape, parameters: Parameters, frozen: (name: string) => boolean = () => false) {
    super(tape)
    this.#parameters = parameters
    this.#frozen = frozen
  }

  weight(name: string): Tensor {
    const tensor = this.#parameters.tensor(name)
    return this.#frozen(name) ? { ...tensor, gradient: 0 } : tensor
  }

  constant(rows: readonly ArrayLike<number>[]): Tensor {
    const columns = rows[0]!.length
    const data = new Float32Array(rows.length * columns)
    for (const [row, values] of rows.entries()) data.set(values, row * columns)
    return this.tape.workspace.constant(data, rows.length, columns)
  }

  /** Copies of a tensor's values. */
  values(tensor: Tensor): Float32Array {
    return this.tape.workspace.values(tensor).slice()
  }

  /** W x + b */
  linear(name: string, x: Tensor): Tensor {
    const y = this.tape.linear(x, this.weight(`${name}.weight`))
    return this.tape.bias(this.weight(`${name}.bias`), y)
  }

  /** A GRUCell; no previous state means a zero one. */
  gru(name: string, x: Tensor, previous?: Tensor): Tensor {
    return this.gruOn(name, this.gruInput(name, x), previous)
  }

  /** The part of a GRUCell that depends only on the input. */
  gruInput(name: string, x: Tensor): Tensor {
    const input = this.tape.linear(x, this.weight(`${name}.weight_ih`))
    return this.tape.bias(this.weight(`${name}.bias_ih`), input)
  }

  /** The rest of the cell. Writes the new state `into` a tensor, if given. */
  gruOn(name: string, input: Tensor, previous?: Tensor, into?: Tensor): Tensor {
    const hidden = this.weight(`${name}.weight_hh`)
    const fromState =
      previous === undefined ? this.tape.zeros(input.rows, hidden.rows) : this.tape.linear(previous, hidden)
    return this.tape.gru(input, this.tape.bias(this.weight(`${name}.bias_hh`), fromState), previous, into)
  }

  /** Zero mean and unit variance per row, without weights of its own. */
  norm(x: Tensor): Tensor {
    const { workspace } = this.tape
    // The kernel writes both gradients; these are not used.
    const unread = workspace.zeros(x.columns)
    const filled = (value: number): Tensor => ({
      ...this.constant([new Float32Array(x.columns).fill(value)]),
      gradient: unread,
    })
    return this.tape.layerNorm(x, filled(1), filled(0))
  }
}

/** The shapes of a linear layer. */
export function linearShapes(name: string, inputs: number, outputs: number) {
  return { [`${name}.weight`]: [outputs, inputs], [`${name}.bias`]: [outputs] }
}

/** The shapes of a GRUCell. */
export function gruShapes(name: string, inputs: number, hidden: number) {
  return {
    [`${name}.weight_ih`]: [3 * hidden, inputs],
    [`${name}.weight_hh`]: [3 * hidden, hidden],
    [`${name}.bias_ih`]: [3 * hidden],
    [`${name}.bias_hh`]: [3 * hidden],
  }
}

/** Distributed as PyTorch's defaults: uniform in ±1/√fan_in, for GRUs in ±1/√hidden. Each tensor has its own generator. */
function initialValues(shapes: Shapes, { seed, initial }: NetworkOptions): Float32Parameters {
  const values: Float32Parameters = new Map()
  for (const [name, shape] of shapes) {
    const given = initial?.(name)
    const random = deriveRandom(seed, 'organisation', name)
    const bound = 1 / Math.sqrt(fanIn(name, shapes))
    const data = new Float32Array(sizeOf(shape)).map(() => given ?? bound * (2 * random.uniform() - 1))
    values.set(name, { shape, data })
  }
  return values
}

function fanIn(name: string, shapes: Shapes): number {
  const gates = /^(.*)\.(?:weight|bias)_[ih]h$/.exec(name)
  if (gates !== null) return shapes.get(`${gates[1]}.weight_hh`)!.at(-1)!
  return (shapes.get(name.replace(/\.bias$/, '.weight')) ?? shapes.get(name)!).at(-1)!
}
