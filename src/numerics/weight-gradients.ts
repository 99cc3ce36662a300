import type { Tensor, Workspace } from './workspace.ts'

/** A pending term of a matrix's gradient: aᵀ·b with a [m×n] and b [m×k], as addresses and strides. */
interface OuterProduct {
  readonly m: number
  readonly a: number
  readonly lda: number
  readonly b: number
  readonly ldb: number
}

/** Any product below this is finite in single precision, with a margin for rounding. */
const safelyFinite = 1e38

/**
 * The gradients of a pass's weight matrices as pending sums of outer products. They are as large as the weights, so
 * an optimizer step computes them row by row without ever writing them to memory.
 */
export class WeightGradients {
  readonly #workspace: Workspace
  readonly #terms: (OuterProduct & { readonly matrix: Tensor })[] = []

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  add(matrix: Tensor, term: OuterProduct): void {
    this.#terms.push({ matrix, ...term })
  }

  /** The terms of a whole weight, from all parts of its columns, in the kernels' layout; may be empty. */
  terms(weight: Tensor): { readonly count: number; readonly pointer: number } {
    const end = weight.data + weight.rows * weight.stride * 4
    const own = this.#terms.filter(({ matrix }) => matrix.data >= weight.data && matrix.data < end)
    const list = own.flatMap(({ matrix, m, a, lda, b, ldb }) => [
      ...[m, a, lda, b, ldb],
      ...[(matrix.gradient - weight.gradient) / 4, matrix.columns],
    ])
    return { count: own.length, pointer: this.#workspace.indices(list) }
  }

  /**
   * Whether every entry is certain to be finite, judging by the largest magnitudes of the factors. These are small,
   * whereas the gradients themselves would have to be read again. `false` decides nothing.
   */
  surelyFinite(): boolean {
    const { kernels } = this.#workspace
    let bound = 0
    for (const { matrix, m, a, lda, b, ldb } of this.#terms)
      bound += m * kernels.largest(m, matrix.rows, a, lda) * kernels.largest(m, matrix.columns, b, ldb)
    return bound < safelyFinite
  }

  /** Computes them all and adds them to the gradient buffers. */
  write(): void {
    const { kernels } = this.#workspace
    for (const { matrix, m, a, lda, b, ldb } of this.#terms)
      kernels.outer(m, matrix.rows, matrix.columns, a, lda, b, ldb, matrix.gradient, matrix.stride)
    this.#terms.length = 0
  }
}
