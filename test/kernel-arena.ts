import { expect } from 'vitest'
import { arithmetic, arithmetics, instantiateKernels, type Kernels } from '../src/numerics/kernels/kernels.ts'
import { deriveRandom, type Random } from '../src/numerics/random.ts'

/** A matrix in kernel memory; rows are `stride` floats apart. */
export interface Matrix {
  readonly pointer: number
  readonly rows: number
  readonly columns: number
  readonly stride: number
}

/** The arithmetic of new arenas; `forAll` runs both. */
let tested = arithmetic

const poison = 0x7fc0dead
const pageBytes = 65536

/**
 * Kernel memory that detects forbidden access. Every word outside a matrix is a NaN, so reading it spoils
 * the result, and `run` checks that memory outside the targets is unchanged.
 */
export class KernelArena {
  readonly kernels: Kernels = instantiateKernels(tested)
  readonly #random: Random
  #top = 1024

  constructor(...key: readonly (string | number)[]) {
    this.#random = deriveRandom(1, 'kernel arena', ...key)
    const { memory } = this.kernels
    memory.grow(Math.max(0, 16 - memory.buffer.byteLength / pageBytes))
    this.#words().fill(poison)
  }

  integer(from: number, to: number): number {
    return from + Math.floor(this.#random.uniform() * (to - from + 1))
  }

  normal(): number {
    return this.#random.normal()
  }

  /**
   * Rows separated from each other and everything else, at an address that is a multiple of 4 but seldom of
   * 16.
   */
  matrix(rows: number, columns: number, value: number | (() => number), gap = 0): Matrix {
    const stride = columns + gap
    const pointer = this.#take(rows * stride)
    const floats = this.#floats()
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1) {
        floats[(pointer >> 2) + row * stride + column] = typeof value === 'number' ? value : value()
      }
    }
    return { pointer, rows, columns, stride }
  }

  row(values: readonly number[]): Matrix {
    let next = 0
    return this.matrix(1, values.length, () => values[next++]!)
  }

  /** For a result that is overwritten: anything left of it is a NaN. */
  uninitialised(rows: number, columns: number, gap = 0): Matrix {
    return { pointer: this.#take(rows * (columns + gap)), rows, columns, stride: columns + gap }
  }

  indices(list: readonly number[]): number {
    const pointer = this.#take(list.length)
    this.#words().set(list, pointer >> 2)
    return pointer
  }

  /** `count` row numbers below `rows`, with repetitions. */
  rowNumbers(count: number, rows: number): number[] {
    return Array.from({ length: count }, () => this.integer(0, rows - 1))
  }

  read({ pointer, rows, columns, stride }: Matrix): number[][] {
    const floats = this.#floats()
    return Array.from({ length: rows }, (_, row) => {
      const start = (pointer >> 2) + row * stride
      return [...floats.subarray(start, start + columns)]
    })
  }

  write({ pointer, stride }: Matrix, row: number, column: number, value: number): void {
    this.#floats()[(pointer >> 2) + row * stride + column] = value
  }

  /** Runs a kernel and checks that it wrote only into the targets' rows. */
  run(targets: readonly Matrix[], kernel: (kernels: Kernels) => void): void {
    const before = this.#words().slice()
    kernel(this.kernels)
    const after = this.#words().slice()
    for (const { pointer, rows, columns, stride } of targets) {
      for (let row = 0; row < rows; row += 1) {
        const start = (pointer >> 2) + row * stride
        after.set(before.subarray(start, start + columns), start)
      }
    }
    expect(Buffer.from(after.buffer).equals(Buffer.from(before.buffer)), 'memory outside the targets').toBe(
      true,
    )
  }

  #take(words: number): number {
    const pointer = this.#top + 4 * this.integer(1, 4)
    this.#top = pointer + words * 4 + 16
    expect(this.#top, 'arena size').toBeLessThan(16 * pageBytes)
    return pointer
  }

  #floats(): Float32Array {
    return new Float32Array(this.kernels.memory.buffer)
  }

  #words(): Uint32Array {
    return new Uint32Array(this.kernels.memory.buffer)
  }
}

/** Every number of columns up to 20 and some beyond; rows on both sides of the blocks of 2, 4 and 32. */
export const columnCounts = [...Array.from({ length: 20 }, (_, index) => index + 1), 31, 32, 33, 50]
export const rowCounts = [1, 2, 3, 4, 5, 6, 7, 9, 31, 32, 33, 35, 64, 71]
export const sizes = columnCounts.map((columns, index) => ({
  columns,
  rows: rowCounts[index % rowCounts.length]!,
}))

/** Runs a check on every case, with both arithmetics, and says which one failed. */
export function forAll<T>(cases: readonly T[], check: (entry: T) => void): void {
  try {
    for (const kind of arithmetics) {
      tested = kind
      for (const entry of cases) {
        try {
          check(entry)
        } catch (error) {
          throw new Error(`${kind} ${JSON.stringify(entry)}: ${(error as Error).message}`, { cause: error })
        }
      }
    }
  } finally {
    tested = arithmetic
  }
}
