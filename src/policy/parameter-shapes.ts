import { assertShapes, type ParameterValues } from '../numerics/parameters.ts'
import { networkWeights } from './network-weights.ts'

/** The sizes of the network. */
export interface PolicyDimensions {
  /** S: entries of a semantic embedding. */
  readonly semantic: number
  /** H: entries of a hidden state. */
  readonly hidden: number
  /** N: most outer units, and rows of the position and degree tables. */
  readonly maxUnits: number
  /** Most nodes on the longest path of the expanded graph. */
  readonly maxDepth: number
}

/** The paper's dropout rate for unit vectors. */
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

/** Throws unless the parameters are exactly those of a network of these dimensions. */
export function assertParameters(parameters: ParameterValues, dimensions: PolicyDimensions): void {
  assertShapes(parameters, parameterShapes(dimensions))
}
