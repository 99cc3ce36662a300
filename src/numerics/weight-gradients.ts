import type { Tensor, Workspace } from './workspace.ts'

/** A gradient of a matrix, not yet computed: aᵀ·b with a [m×n] and b [m×k], as addresses and strides. */
interface OuterProduct {
  readonly m: number
  readonly a: number
  readonly lda: number
  readonly b: number
  readonly ldb: number
}

/** Any product below this is finite in single precision, with room for rounding. */
const safelyFinite = 1e38

/** Whether a matrix consists of columns of a weight. */
function isPart(matrix: Tensor, weight: Tensor): boolean {
  return matrix.data >= weight.data && matrix.data < weight.data + weight.rows * weight.stride * 4
}

/**
 * The gradients of a pass's weight matrices as sums of outer products, not yet computed. They are as large as the
 * weights, so an optimizer step can compute them row by row without ever writing them to memory.
 */
export class WeightGradients {
  readonly #workspace: Workspace
  readonly #products = new Map<number, { readonly matrix: Tensor; readonly terms: OuterProduct[] }>()

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  add(matrix: Tensor, term: OuterProduct): void {
    const known = this.#products.get(matrix.gradient)
    if (known === undefined) this.#products.set(matrix.gradient, { matrix, terms: [term] })
    else known.terms.push(term)
  }

  /** The matrices that the pass reached. */
  get matrices(): Tensor[] {
    return [...this.#products.values()].map(({ matrix }) => matrix)
  }

  /** The terms of a whole weight, from all its parts, in the kernels' layout; may be empty. */
  terms(weight: Tensor): { readonly count: number; readonly pointer: number } {
    const parts = [...this.#products.values()].filter(({ matrix }) => isPart(matrix, weight))
    const list = parts.flatMap(({ matrix, terms }) =>
      terms.flatMap(({ m, a, lda, b, ldb }) => [
        ...[m, a, lda, b, ldb],
        ...[(matrix.gradient - weight.gradient) / 4, matrix.columns],
      ]),
    )
    return { count: list.length / 7, pointer: this.#workspace.indices(list) }
  }

  /**
   * Whether every entry is certain to be finite, judged by the largest magnitudes of the factors alone. These are small;
   * the gradients themselves would have to be read again. A `false` decides nothing.
   */
  surelyFinite(): boolean {
    const { kernels } = this.#workspace
    for (const { matrix, terms } of this.#products.values()) {
      let bound = 0
      for (const { m, a, lda, b, ldb } of terms) {
        bound += m * kernels.largest(m, matrix.rows, a, lda) * kernels.largest(m, matrix.columns, b, ldb)
      }
      if (!(bound < safelyFinite)) return false
    }
    return true
  }

  /** Computes them all and adds them to the gradient buffers. */
  write(): void {
    const { kernels } = this.#workspace
    for (const { matrix, terms } of this.#products.values()) {
      for (const { m, a, lda, b, ldb } of terms) {
        kernels.outer(m, matrix.rows, matrix.columns, a, lda, b, ldb, matrix.gradient, matrix.stride)
      }
    }
    this.#products.clear()
  }
}
