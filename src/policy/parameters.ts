import type { BlockParts } from '../numerics/adam.ts'
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

  /** The weight matrices, which only ever multiply, and everything else: embeddings, norms and biases. */
  get parts(): BlockParts {
    const isMatrix = (name: string) => this.#shapes.get(name)!.length === 2 && !name.includes('_emb.')
    const { matrices = [], others = [] } = Object.groupBy(this.#tensors, ([name]) =>
      isMatrix(name) ? 'matrices' : 'others',
    )
    const tensors = (group: readonly (readonly [string, Tensor])[]) => group.map(([, tensor]) => tensor)
    return { matrices: tensors(matrices), others: tensors(others) }
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
