import { type Arithmetic, arithmetic, instantiateKernels, type Kernels } from './kernels/kernels.ts'

/** A row-major float32 matrix in a workspace. `gradient` is 0 if none is needed. Views share data and gradient. */
export interface Tensor {
  readonly data: number
  readonly gradient: number
  readonly rows: number
  readonly columns: number
  /** Floats from one row to the next. */
  readonly stride: number
}

const pageBytes = 65536
/** Kernels and `>>` treat addresses as int32: beyond this they would turn negative. */
const maxBytes = 2 ** 31

/**
 * One kernel instance and its memory, allocated from the bottom up: first parameters, permanently, then the values of
 * one pass, freed together by `release`.
 */
export class Workspace {
  readonly kernels: Kernels
  /** How its kernels round. */
  readonly arithmetic: Arithmetic
  // The first bytes stay unused, so that no tensor has address 0, which means "absent" to the kernels.
  #top = 1024
  #floats: Float32Array
  #integers: Int32Array

  constructor(chosen: Arithmetic = arithmetic) {
    this.arithmetic = chosen
    this.kernels = instantiateKernels(chosen)
    this.#floats = new Float32Array(this.kernels.memory.buffer)
    this.#integers = new Int32Array(this.kernels.memory.buffer)
  }

  /** All memory as floats. Valid until the next allocation: growing the memory moves it. */
  get floats(): Float32Array {
    return this.#floats
  }

  mark(): number {
    return this.#top
  }

  release(mark: number): void {
    this.#top = mark
  }

  /** Room for `count` floats or int32s, 16-byte aligned, contents undefined. */
  allocate(count: number): number {
    const pointer = this.#top
    const top = Math.ceil((pointer + count * 4) / 16) * 16
    if (top > maxBytes)
      throw new RangeError('One workspace cannot hold more than 2 GiB: use smaller batches.')
    const { memory } = this.kernels
    const missing = top - memory.buffer.byteLength
    if (missing > 0) {
      // Growing copies nothing but invalidates views; large steps keep it rare.
      memory.grow(Math.ceil(Math.max(missing, 1 << 20) / pageBytes))
      this.#floats = new Float32Array(memory.buffer)
      this.#integers = new Int32Array(memory.buffer)
    }
    this.#top = top
    return pointer
  }

  zeros(count: number): number {
    const pointer = this.allocate(count)
    this.#floats.fill(0, pointer >> 2, (pointer >> 2) + count)
    return pointer
  }

  /** Writes an index list and returns its address. */
  indices(list: ArrayLike<number>): number {
    const pointer = this.allocate(list.length)
    this.#integers.set(list, pointer >> 2)
    return pointer
  }

  /** A tensor without gradient, with the given values. */
  constant(values: ArrayLike<number>, rows: number, columns: number): Tensor {
    const data = this.allocate(rows * columns)
    this.#floats.set(values, data >> 2)
    return { data, gradient: 0, rows, columns, stride: columns }
  }

  /** The values of a contiguous tensor, as a view: copy what must outlive the next allocation. */
  values(tensor: Tensor): Float32Array {
    return this.#floats.subarray(tensor.data >> 2, (tensor.data >> 2) + tensor.rows * tensor.columns)
  }

  gradients(tensor: Tensor): Float32Array {
    return this.#floats.subarray(tensor.gradient >> 2, (tensor.gradient >> 2) + tensor.rows * tensor.columns)
  }
}

/** Rows `from` to `from + count` of a tensor, without copying. */
export function rowsOf(tensor: Tensor, from: number, count: number): Tensor {
  return view(tensor, from * tensor.stride, count, tensor.columns)
}

/** Columns `from` to `from + count` of a tensor, without copying: a part of a concatenated input's weight. */
export function columnsOf(tensor: Tensor, from: number, count: number): Tensor {
  return view(tensor, from, tensor.rows, count)
}

function view(tensor: Tensor, offset: number, rows: number, columns: number): Tensor {
  return {
    data: tensor.data + offset * 4,
    gradient: tensor.gradient === 0 ? 0 : tensor.gradient + offset * 4,
    rows,
    columns,
    stride: tensor.stride,
  }
}
