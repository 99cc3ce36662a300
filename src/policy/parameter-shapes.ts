import { networkWeights } from './network-weights.ts'

/** The sizes of the network. */
export interface PolicyDimensions {
  /** S: entries of a semantic embedding. */
  readonly semantic: number
  /** H: entries of a hidden state. */
  readonly hidden: number
  /** N: outer units at most, and rows of the position and degree tables. */
  readonly maxUnits: number
  /** Nodes at most on the longest path of the expanded graph. */
  readonly maxDepth: number
}

/** Share of the unit vectors that the paper's training drops. */
export const paperDropout = 0.1

/** A tensor of doubles, row-major. */
export interface PlainTensor {
  readonly shape: readonly number[]
  readonly data: Float64Array
}

/** The parameters of a policy by their PyTorch names. */
export type PlainParameters = ReadonlyMap<string, PlainTensor>

/** Every tensor of the network with its shape, in the order of a PyTorch state dict. */
export function parameterShapes(dimensions: PolicyDimensions): Map<string, readonly number[]> {
  const shapes = new Map<string, readonly number[]>()
  const declare = (name: string, shape: readonly number[]) => void shapes.set(name, shape)
  networkWeights(dimensions, declare, () => {})
  return shapes
}

/** How many values a tensor of this shape has. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1)
}

/** Refuses parameters that are not exactly those of a network of these dimensions. */
export function assertParameters(
  parameters: ReadonlyMap<string, { shape: readonly number[]; data: ArrayLike<number> }>,
  dimensions: PolicyDimensions,
): void {
  const shapes = parameterShapes(dimensions)
  for (const name of parameters.keys()) {
    if (!shapes.has(name)) throw unusable(name, 'the network has no such tensor')
  }
  for (const [name, shape] of shapes) {
    const tensor = parameters.get(name)
    if (tensor === undefined) throw unusable(name, 'it is missing')
    if (tensor.shape.join() !== shape.join()) {
      throw unusable(name, `its shape is [${tensor.shape}], but [${shape}] is needed`)
    }
    if (tensor.data.length !== sizeOf(shape))
      throw unusable(name, `it has ${tensor.data.length} values, but ${sizeOf(shape)} are needed`)
  }
}

function unusable(tensor: string, problem: string): Error {
  return new Error(`Policy parameter '${tensor}': ${problem}.`)
}
