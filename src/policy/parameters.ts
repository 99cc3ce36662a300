import type { BlockParts } from '../numerics/adam.ts'
import { isPart } from '../numerics/weight-gradients.ts'
import type { Tensor, Workspace } from '../numerics/workspace.ts'
import { assertParameters, type PolicyDimensions, parameterShapes } from './parameter-shapes.ts'

/** Values of every tensor by its PyTorch name, outside any workspace. */
export type ParameterValues = ReadonlyMap<
  string,
  { readonly shape: readonly number[]; readonly data: ArrayLike<number> }
>

/**
 * The weights of one policy in a workspace: one block, so that an optimizer step is one pass over it, with a tensor view
 * per name. A frozen policy has no gradients.
 */
export class PolicyParameters {
  readonly dimensions: PolicyDimensions
  readonly workspace: Workspace
  /** All tensors as one row, in the order of `parameterShapes`. */
  readonly block: Tensor
  readonly #tensors = new Map<string, Tensor>()
  readonly #shapes: ReadonlyMap<string, readonly number[]>
  #version = 0

  constructor(workspace: Workspace, dimensions: PolicyDimensions, options: { frozen: boolean }) {
    this.workspace = workspace
    this.dimensions = dimensions
    this.#shapes = parameterShapes(dimensions)
    const sizes = [...this.#shapes.values()].map((shape) => shape.reduce((size, extent) => size * extent, 1))
    const columns = sizes.reduce((sum, size) => sum + size, 0)
    const data = workspace.zeros(columns)
    const gradient = options.frozen ? 0 : workspace.zeros(columns)
    this.block = { data, gradient, rows: 1, columns, stride: columns }
    let offset = 0
    for (const [index, [name, shape]] of [...this.#shapes].entries()) {
      const width = shape.at(-1)!
      const view = (base: number) => (base === 0 ? 0 : base + offset * 4)
      const rows = sizes[index]! / width
      this.#tensors.set(name, {
        data: view(data),
        gradient: view(gradient),
        rows,
        columns: width,
        stride: width,
      })
      offset += sizes[index]!
    }
  }

  /** Increases with every change of the values, so that derived values can be recomputed. */
  get version(): number {
    return this.#version
  }

  get names(): Iterable<string> {
    return this.#tensors.keys()
  }

  tensor(name: string): Tensor {
    return this.#tensors.get(name)!
  }

  write(values: ParameterValues): void {
    assertParameters(values, this.dimensions)
    for (const [name, tensor] of this.#tensors) this.workspace.values(tensor).set(values.get(name)!.data)
    this.markChanged()
  }

  /** Splits the tensors into weights that consist of the given parts, and all others. */
  partition(parts: readonly Tensor[]): BlockParts {
    const tensors = [...this.#tensors.values()]
    const matrices = tensors.filter((tensor) => parts.some((part) => isPart(part, tensor)))
    const others = tensors.filter((tensor) => !matrices.includes(tensor))
    const size = (group: readonly Tensor[]) =>
      group.reduce((sum, { rows, columns }) => sum + rows * columns, 0)
    if (size(parts) !== size(matrices)) {
      throw new Error(
        `The parts have ${size(parts)} entries, but the weights that they belong to ${size(matrices)}.`,
      )
    }
    return { matrices, others }
  }

  /** Call it after writing to the block directly, as the optimizer does. */
  markChanged(): void {
    this.#version += 1
  }

  /** Copies of all values. */
  read(): Map<string, { shape: readonly number[]; data: Float32Array }> {
    return this.#copy((tensor) => this.workspace.values(tensor))
  }

  /** Copies of all gradients. */
  readGradients(): Map<string, { shape: readonly number[]; data: Float32Array }> {
    return this.#copy((tensor) => this.workspace.gradients(tensor))
  }

  #copy(
    view: (tensor: Tensor) => Float32Array,
  ): Map<string, { shape: readonly number[]; data: Float32Array }> {
    return new Map(
      [...this.#tensors].map(([name, tensor]) => [
        name,
        { shape: this.#shapes.get(name)!, data: view(tensor).slice() },
      ]),
    )
  }
}
