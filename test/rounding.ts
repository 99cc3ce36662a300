import { expect } from 'vitest'

/** Half a unit in the last place of 1. */
export const unitRoundoff = 2 ** -24

/** A sum in doubles, and how far any order of summation in single precision may deviate from it. */
export class Sum {
  value = 0
  #magnitude = 0
  #terms = 0

  constructor(start = 0) {
    this.add(start)
  }

  add(term: number): this {
    this.value += term
    this.#magnitude += Math.abs(term)
    this.#terms += 1
    return this
  }

  get allowed(): number {
    return (this.#terms + 4) * unitRoundoff * this.#magnitude + 1e-37
  }
}

export function expectSums(what: string, got: readonly number[][], expected: readonly Sum[][]): void {
  expectClose(
    what,
    got,
    expected.map((row) => row.map((sum) => sum.value)),
    (row, column) => expected[row]![column]!.allowed,
  )
}

export function expectClose(
  what: string,
  got: readonly number[][],
  expected: readonly number[][],
  allowed: (row: number, column: number) => number,
): void {
  expect(got.map((row) => row.length)).toEqual(expected.map((row) => row.length))
  const wrong: string[] = []
  for (const [i, row] of expected.entries()) {
    for (const [j, value] of row.entries()) {
      // Written so that NaN differs from everything.
      if (!(Math.abs(got[i]![j]! - value) <= allowed(i, j)))
        wrong.push(`${what}[${i}][${j}] = ${got[i]![j]}, not ${value}`)
    }
  }
  expect(wrong).toEqual([])
}

/** Σ over `terms` of each entry of a rows × columns matrix. */
export function sums(
  rows: number,
  columns: number,
  terms: number,
  start: (row: number, column: number) => number,
  term: (row: number, column: number, index: number) => number,
): Sum[][] {
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (_, column) => {
      const sum = new Sum(start(row, column))
      for (let index = 0; index < terms; index += 1) sum.add(term(row, column, index))
      return sum
    }),
  )
}
