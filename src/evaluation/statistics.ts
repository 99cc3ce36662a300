import { deriveRandom } from '../numerics/random.ts'

/** A mean with its 95 % interval. */
export interface MeanInterval {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** The 97.5 % point of the standard normal distribution. */
const z = 1.959963984540054

/**
 * The mean of scores from 0 to 1 with Wilson's interval, which also holds for few questions and near 0 and 1. Scores
 * between 0 and 1 (an F1) with mean μ vary by at most μ(1 − μ), as 0/1 scores do, so for them the interval is wider
 * than needed, never too narrow. A bootstrap or normal interval would be narrower, but has no width at all for a
 * single question or equal scores, which would claim false certainty.
 */
export function meanInterval(scores: readonly number[]): MeanInterval {
  if (scores.length === 0) throw new RangeError('There are no scores to take the mean of.')
  for (const score of scores)
    if (!(score >= 0 && score <= 1)) throw new RangeError(`A score is from 0 to 1, not ${score}.`)
  const n = scores.length
  const mean = meanOf(scores)
  const shrunk = 1 + z ** 2 / n
  const centre = (mean + z ** 2 / (2 * n)) / shrunk
  const half = (z / shrunk) * Math.sqrt((mean * (1 - mean)) / n + z ** 2 / (4 * n ** 2))
  // At the ends of the scale a bound equals the mean; rounding must not move it past the mean.
  const low = Math.max(0, Math.min(mean, centre - half))
  const high = Math.min(1, Math.max(mean, centre + half))
  return { mean, low, high }
}

export interface PairedDifference {
  /** The mean of a − b. */
  readonly difference: number
  /** The 95 % interval of it. */
  readonly low: number
  readonly high: number
  /** The share of resamples in which a is ahead; a tie counts as half. */
  readonly probability: number
}

/**
 * The difference between two sets of scores on the same questions, by percentile bootstrap over questions. Pairs are
 * resampled together, so a question that is hard for both does not widen the interval. The interval is too narrow for
 * very few questions, or if all pairs differ equally.
 */
export function pairedBootstrap(
  a: readonly number[],
  b: readonly number[],
  { seed, resamples = 10_000 }: { readonly seed: number; readonly resamples?: number },
): PairedDifference {
  if (a.length !== b.length)
    throw new RangeError(`Scores cannot be paired: there are ${a.length} and ${b.length}.`)
  if (a.length === 0) throw new RangeError('There are no pairs of scores to compare.')
  if (!(Number.isInteger(resamples) && resamples >= 1))
    throw new RangeError(`The number of resamples is ${resamples}; it must be a whole number, 1 or more.`)
  const differences = Float64Array.from(a, (score, index) => score - b[index]!)
  if (!differences.every(Number.isFinite)) throw new RangeError('Scores to compare must be finite numbers.')
  const means = resampledMeans(differences, resamples, seed).sort()
  const ahead = means.reduce((sum, mean) => sum + (mean > 0 ? 1 : mean === 0 ? 0.5 : 0), 0)
  // Symmetric, so that swapping a and b mirrors the result.
  const leftOut = Math.floor(resamples * 0.025)
  return {
    difference: meanOf(differences),
    low: means[leftOut]!,
    high: means[resamples - 1 - leftOut]!,
    probability: ahead / resamples,
  }
}

/** Sum of the 97.5 % and 80 % points of the standard normal distribution: 5 % error, 80 % power. */
const detectionFactor = z + 0.8416212335729143

/**
 * The smallest difference of two mean scores that this many questions reveal in four of five evaluations.
 * `differences` are those of the pairs, if there are any. One extra disagreement is assumed, because pairs that all
 * agree prove nothing. Without pairs, disagreement on 30 % of the questions is assumed.
 */
export function detectableDifference(questions: number, differences?: ArrayLike<number>): number {
  const squares = Array.from(differences ?? [], (one) => one ** 2)
  const spread = differences === undefined ? 0.3 : (squares.reduce((a, b) => a + b, 0) + 1) / (questions + 1)
  return Math.min(1, detectionFactor * Math.sqrt(spread / questions))
}

function resampledMeans(values: Float64Array, resamples: number, seed: number): Float64Array {
  const random = deriveRandom(seed, 'paired-bootstrap')
  const n = values.length
  const means = new Float64Array(resamples)
  for (let resample = 0; resample < resamples; resample += 1) {
    let sum = 0
    for (let draw = 0; draw < n; draw += 1) sum += values[Math.floor(random.uniform() * n)]!
    means[resample] = sum / n
  }
  return means
}

export function meanOf(values: ArrayLike<number>): number {
  let sum = 0
  for (let index = 0; index < values.length; index += 1) sum += values[index]!
  return sum / values.length
}
