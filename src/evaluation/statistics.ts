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
 * The mean of scores from 0 to 1 with Wilson's interval, which holds for few questions and near 0 and 1 too. A score with
 * mean μ that is not always 0 or 1 (an F1) varies by at most μ(1 − μ), as 0/1 scores do, so for those the interval is wider
 * than needed, never too narrow. A bootstrap or normal interval would be narrower there, but has no width at all for one
 * question or for equal scores, which claims a certainty that nobody has.
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
  // At the ends of the scale a bound is the mean itself; rounding must not move it past the mean.
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
 * How far scores lie from other scores of the same questions: percentile bootstrap over questions. Pairs are resampled
 * together, so what makes a question hard for both does not widen the interval. With very few questions, or where all pairs
 * differ alike, it is too narrow: it knows nothing but the questions it was given.
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
  // As many resamples are left out above as below, so that exchanging a and b mirrors everything.
  const leftOut = Math.floor(resamples * 0.025)
  return {
    difference: meanOf(differences),
    low: means[leftOut]!,
    high: means[resamples - 1 - leftOut]!,
    probability: ahead / resamples,
  }
}

/** 97.5 % and 80 % points of the standard normal distribution together: 5 % error, 80 % power. */
const detectionFactor = z + 0.8416212335729143

/**
 * The smallest difference of two mean scores that this many questions show in four evaluations of five. `differences` are
 * those of the pairs, where there are some. One more disagreement is assumed than there was, because pairs that all agree
 * prove nothing. Without pairs, two organisations are taken to disagree on 30 % of the questions.
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
