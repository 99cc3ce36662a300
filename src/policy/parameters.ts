import type { BlockParts } from '../numerics/adam.ts'
import { columnsOf, type Tensor, type Workspace } from '../numerics/workspace.ts'
import { assertParameters, type PolicyDimensions, parameterShapes, sizeOf } from './parameter-shapes.ts'

/** Values of every tensor by its PyTorch name, outside any workspace. */
export type ParameterValues = ReadonlyMap<
  string,
  { readonly shape: readonly number[]; readonly data: ArrayLike<number> }
>

type Float32Parameters = Map<string, { shape: readonly number[]; data: Float32Array }>

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
    const columns = [...this.#shapes.values()].reduce((sum, shape) => sum + sizeOf(shape), 0)
    const [data, gradient] = [workspace.zeros(columns), options.frozen ? 0 : workspace.zeros(columns)]
    this.block = { data, gradient, rows: 1, columns, stride: columns }
    let offset = 0
    for (const [name, shape] of this.#shapes) {
      const [size, width] = [sizeOf(shape), shape.at(-1)!]
      const place = columnsOf(this.block, offset, size)
      this.#tensors.set(name, { ...place, rows: size / width, columns: width, stride: width })
      offset += size
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
  read(): Float32Parameters {
    return this.#copy((tensor) => this.workspace.values(tensor))
  }

  /** Copies of all gradients. */
  readGradients(): Float32Parameters {
    return this.#copy((tensor) => this.workspace.gradients(tensor))
  }

  #copy(view: (tensor: Tensor) => Float32Array): Float32Parameters {
    const copies = [...this.#tensors].map(([name, tensor]) => {
      const copy = { shape: this.#shapes.get(name)!, data: view(tensor).slice() }
      return [name, copy] as const
    })
    return new Map(copies)
  }
}
