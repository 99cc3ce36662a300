import type { WeightGradients } from './weight-gradients.ts'
import type { Tensor, Workspace } from './workspace.ts'

export interface AdamSettings {
  readonly learningRate: number
  readonly beta1: number
  readonly beta2: number
  readonly epsilon: number
}

/** The paper's optimizer: a fixed learning rate, otherwise Adam's defaults. */
export const paperAdam: AdamSettings = { learningRate: 1e-4, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }

/** Everything later steps need to know about earlier ones. */
export interface AdamState {
  /** Number of steps, shared by all parameters. */
  readonly step: number
  readonly first: Float32Array
  readonly second: Float32Array
}

/** The tensors of a block: matrices that are only multiplied by, and everything else. */
export interface BlockParts {
  readonly matrices: readonly Tensor[]
  readonly others: readonly Tensor[]
}

/** Rows of gradients the kernel `outerAdam` holds at a time. */
const outerAdamRows = 8

/** Adam over one block of parameters. No weight decay, no clipping. */
export class Adam {
  readonly settings: AdamSettings
  readonly #workspace: Workspace
  readonly #block: Tensor
  readonly #first: Tensor
  readonly #second: Tensor
  readonly #constants: Tensor
  #step = 0

  constructor(workspace: Workspace, block: Tensor, settings: AdamSettings = paperAdam) {
    this.settings = settings
    this.#workspace = workspace
    this.#block = block
    this.#first = { ...block, data: workspace.zeros(block.columns), gradient: 0 }
    this.#second = { ...block, data: workspace.zeros(block.columns), gradient: 0 }
    this.#constants = workspace.constant(new Float32Array(7), 1, 7)
  }

  /** One step over the block, optionally at another learning rate. Resets its gradients to zero. */
  step(learningRate: number = this.settings.learningRate): void {
    this.#begin(learningRate)
    this.#move(this.#block)
  }

  /**
   * The same step, computing the matrices' gradients on the way. Matrices and others make up the block; the others'
   * gradients are in their buffers.
   */
  stepWith(gradients: WeightGradients, { matrices, others }: BlockParts): void {
    this.#begin(this.settings.learningRate)
    const { kernels } = this.#workspace
    const scratch = this.#workspace.allocate(
      outerAdamRows * Math.max(...matrices.map(({ columns }) => columns)),
    )
    for (const matrix of matrices) {
      const { count, pointer } = gradients.terms(matrix)
      const places = [...this.#places(matrix), scratch, this.#constants.data] as const
      kernels.outerAdam(count, pointer, matrix.rows, matrix.columns, ...places)
    }
    for (const tensor of others) this.#move(tensor)
  }

  #move(tensor: Tensor): void {
    const [parameters, ...moments] = this.#places(tensor)
    const count = tensor.rows * tensor.columns
    this.#workspace.kernels.adam(count, parameters, tensor.gradient, ...moments, this.#constants.data)
  }

  /** Addresses of a part of the block and its moments. */
  #places({ data }: Tensor): [parameters: number, first: number, second: number] {
    const offset = data - this.#block.data
    return [data, this.#first.data + offset, this.#second.data + offset]
  }

  /** Counts the step and writes its constants for the kernels. */
  #begin(learningRate: number): void {
    this.#step += 1
    const { beta1, beta2, epsilon } = this.settings
    const stepSize = learningRate / (1 - power(beta1, this.#step))
    const rootCorrection = 1 / Math.sqrt(1 - power(beta2, this.#step))
    const constants = [beta1, 1 - beta1, beta2, 1 - beta2, stepSize, rootCorrection, epsilon]
    this.#workspace.values(this.#constants).set(constants)
  }

  read(): AdamState {
    const copy = (tensor: Tensor) => this.#workspace.values(tensor).slice()
    return { step: this.#step, first: copy(this.#first), second: copy(this.#second) }
  }

  write({ step, first, second }: AdamState): void {
    const { columns } = this.#block
    if (first.length !== columns || second.length !== columns) {
      throw new RangeError(`Moments of ${first.length} and ${second.length} entries do not fit ${columns}.`)
    }
    this.#step = step
    this.#workspace.values(this.#first).set(first)
    this.#workspace.values(this.#second).set(second)
  }
}

/** By squaring, because `Math.pow` may round differently between engine versions. */
function power(base: number, exponent: number): number {
  let result = 1
  for (let square = base, rest = exponent; rest > 0; rest = Math.floor(rest / 2), square *= square) {
    if (rest % 2 === 1) result *= square
  }
  return result
}
