import { meanOf } from '../../evaluation/statistics.ts'
import { Problem } from '../../problem.ts'
import { compareFigures } from './displayed.ts'
import { studentQuantile } from './student.ts'

/** The mean over seeds with its 95 % interval. One seed has neither deviation nor interval. */
export interface SeedMean {
  readonly n: number
  readonly mean: number
  /** With n − 1. */
  readonly deviation: number | null
  readonly low: number | null
  readonly high: number | null
}

export function seedMean(values: readonly number[]): SeedMean {
  const n = values.length
  if (n === 0) throw new Problem('The mean needs at least one seed.')
  const mean = meanOf(values)
  if (n === 1) return { n, mean, deviation: null, low: null, high: null }
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1))
  const half = (studentQuantile(n - 1) * deviation) / Math.sqrt(n)
  return { n, mean, deviation, low: mean - half, high: mean + half }
}

/** A condition against its base, paired by seed. */
export function compareSeeds(variant: readonly number[], base: readonly number[]) {
  if (variant.length !== base.length)
    throw new Problem(`Seeds cannot be paired: there are ${variant.length} and ${base.length}.`)
  const differences = variant.map((value, seed) => value - base[seed]!)
  const signs = variant.map((value, seed) => compareFigures(value, base[seed]!))
  return {
    variant: seedMean(variant),
    base: seedMean(base),
    difference: seedMean(differences),
    ahead: signs.filter((sign) => sign > 0).length,
    behind: signs.filter((sign) => sign < 0).length,
    equal: signs.filter((sign) => sign === 0).length,
    p: signFlipTest(differences),
  }
}

const equalWithin = 1e-12
/** Each half of this many differences has 2^22 sums, which still fits in memory. */
const mostSeeds = 44

/**
 * The exact two-sided sign-flip test: the share of the 2^n sign patterns whose absolute sum is at least as large.
 * Lists the sums of two halves and counts their combinations, in about 2^(n/2) steps.
 */
function signFlipTest(differences: readonly number[]): number {
  const n = differences.length
  if (n > mostSeeds) throw new Problem(`The sign-flip test takes at most ${mostSeeds} seeds; there are ${n}.`)
  const threshold = Math.abs(differences.reduce((sum, value) => sum + value, 0)) - equalWithin
  if (threshold <= 0) return 1
  const first = signedSums(differences.slice(0, n >> 1))
  const second = signedSums(differences.slice(n >> 1)).sort()
  // Sums come in pairs of opposite sign, so both tails have the same count.
  const count = first.reduce((total, sum) => total + countFrom(second, threshold - sum), 0)
  return (2 * count) / 2 ** n
}

function signedSums(values: readonly number[]): Float64Array {
  let sums = Float64Array.of(0)
  for (const value of values) {
    const next = new Float64Array(sums.length * 2)
    for (const [index, sum] of sums.entries()) {
      next[2 * index] = sum + value
      next[2 * index + 1] = sum - value
    }
    sums = next
  }
  return sums
}

/** How many of the sorted values are at least this. */
function countFrom(sorted: Float64Array, least: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! >= least) high = middle
    else low = middle + 1
  }
  return sorted.length - low
}
