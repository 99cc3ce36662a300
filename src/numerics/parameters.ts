import { columnsOf, type Tensor, type Workspace } from './workspace.ts'

/** The shape of every tensor, by name. */
export type Shapes = ReadonlyMap<string, readonly number[]>

/** The values of every tensor, by name, outside any workspace. */
export type ParameterValues = ReadonlyMap<
  string,
  { readonly shape: readonly number[]; readonly data: ArrayLike<number> }
>

export type Float32Parameters = Map<string, { shape: readonly number[]; data: Float32Array }>

/**
 * The weights of one network in a workspace: one block, so that an optimizer step is a single pass, with a tensor
 * view per name. Frozen ones have no gradients.
 */
export class Parameters {
  readonly workspace: Workspace
  readonly shapes: Shapes
  /** All tensors as one row, in the order of their shapes. */
  readonly block: Tensor
  readonly #tensors = new Map<string, Tensor>()
  #version = 0

  constructor(workspace: Workspace, shapes: Shapes, options: { frozen: boolean }) {
    this.workspace = workspace
    this.shapes = shapes
    const columns = [...shapes.values()].reduce((sum, shape) => sum + sizeOf(shape), 0)
    const [data, gradient] = [workspace.zeros(columns), options.frozen ? 0 : workspace.zeros(columns)]
    this.block = { data, gradient, rows: 1, columns, stride: columns }
    let offset = 0
    for (const [name, shape] of shapes) {
      const [size, width] = [sizeOf(shape), shape.at(-1)!]
      const place = columnsOf(this.block, offset, size)
      this.#tensors.set(name, { ...place, rows: size / width, columns: width, stride: width })
      offset += size
    }
  }

  /** Increases with every change, so that derived values can be recomputed. */
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
    assertShapes(values, this.shapes)
    for (const [name, tensor] of this.#tensors) this.workspace.values(tensor).set(values.get(name)!.data)
    this.markChanged()
  }

  /** Must be called after writing to the block directly, as the optimizer does. */
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
      const copy = { shape: this.shapes.get(name)!, data: view(tensor).slice() }
      return [name, copy] as const
    })
    return new Map(copies)
  }
}

/** Number of values of a tensor of this shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1)
}

/** Throws unless the values match the shapes exactly. */
export function assertShapes(values: ParameterValues, shapes: Shapes): void {
  for (const name of values.keys())
    if (!shapes.has(name)) throw unusable(name, 'the network has no such tensor')
  for (const [name, shape] of shapes) {
    const tensor = values.get(name)
    if (tensor === undefined) throw unusable(name, 'it is missing')
    if (tensor.shape.join() !== shape.join())
      throw unusable(name, `its shape is [${tensor.shape}], but [${shape}] is needed`)
    if (tensor.data.length !== sizeOf(shape))
      throw unusable(name, `it has ${tensor.data.length} values, but ${sizeOf(shape)} are needed`)
  }
}

function unusable(tensor: string, problem: string): Error {
  return new Error(`Policy parameter '${tensor}': ${problem}.`)
}
