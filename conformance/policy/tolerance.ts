import type { PolicyImplementation } from './implementation.ts'

/** A value passes if |got − expected| ≤ absolute + relative · |expected|. */
export interface Tolerance {
  readonly relative: number
  readonly absolute: number
}

export interface Tolerances {
  /** States, and all scalars of the updates. */
  readonly values: Tolerance
  /** States whose logits are in the hundreds. */
  readonly saturated: Tolerance
  readonly gradients: Tolerance
  /** Weights after a step, which is small compared with them. */
  readonly weights: Tolerance
}

export const tolerances: Readonly<Record<PolicyImplementation['precision'], Tolerances>> = {
  float32: {
    values: { relative: 1e-4, absolute: 1e-5 },
    saturated: { relative: 1e-4, absolute: 1e-3 },
    gradients: { relative: 1e-3, absolute: 2e-6 },
    weights: { relative: 1e-8, absolute: 2e-6 },
  },
  float64: {
    values: { relative: 2e-8, absolute: 1e-9 },
    saturated: { relative: 2e-8, absolute: 1e-9 },
    gradients: { relative: 2e-8, absolute: 1e-9 },
    weights: { relative: 1e-8, absolute: 2e-9 },
  },
}

/** Always computed in double precision. */
export const returnsTolerance: Tolerance = { relative: 1e-8, absolute: 1e-8 }
/** Mathematically equal returns may differ in the last bit, and an advantage divides that by epsilon. */
export const advantagesTolerance: Tolerance = { relative: 0, absolute: 1e-6 }

/** Collects the differences of a whole case. */
export class Comparison {
  readonly differences: string[] = []

  exact(what: string, got: ArrayLike<number>, expected: ArrayLike<number>): void {
    this.list(what, got, expected, { relative: 0, absolute: 0 })
  }

  number(what: string, got: number | undefined, expected: number, tolerance: Tolerance): void {
    const allowed = tolerance.absolute + tolerance.relative * Math.abs(expected)
    // Written so that NaN differs from everything.
    if (got !== undefined && Math.abs(got - expected) <= allowed) return
    this.differences.push(`${what} is ${got}, expected ${expected} ± ${allowed.toPrecision(2)}`)
  }

  /** A null expects nothing: the place is masked. */
  list(
    what: string,
    got: ArrayLike<number> | undefined,
    expected: ArrayLike<number | null>,
    tolerance: Tolerance,
  ): void {
    if (got?.length !== expected.length) {
      this.differences.push(`${what} has ${got?.length ?? 'no'} entries, expected ${expected.length}`)
      return
    }
    for (let index = 0; index < expected.length; index += 1) {
      const wanted = expected[index]!
      if (wanted !== null) this.number(`${what}[${index}]`, got[index], wanted, tolerance)
    }
  }

  /** `[trajectory][position]`. */
  lists(
    what: string,
    got: readonly ArrayLike<number>[],
    expected: readonly ArrayLike<number>[],
    tolerance: Tolerance,
  ): void {
    if (got.length !== expected.length) {
      this.differences.push(`${what} has ${got.length} lists, expected ${expected.length}`)
    }
    for (const [index, list] of expected.entries())
      this.list(`${what}[${index}]`, got[index], list, tolerance)
  }
}

export function norm(vector: ArrayLike<number>): number {
  let squares = 0
  for (let index = 0; index < vector.length; index += 1) squares += vector[index]! ** 2
  return Math.sqrt(squares)
}
