import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deriveRandom } from '../numerics/random.ts'
import { detectableDifference, meanInterval, pairedBootstrap } from './statistics.ts'

const zeroOrOne = fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 60 })
const unit = fc.double({ min: 0, max: 1, noNaN: true })
const fractions = fc.array(unit, { minLength: 1, maxLength: 60 })

describe('mean with interval', () => {
  // 81 of 263 is the example in Newcombe (1998); at the ends the bound is z²/(n + z²) away.
  test.each([
    [0, 10, 0, 0.2775328],
    [10, 10, 0.7224672, 1],
    [5, 10, 0.2365931, 0.7634069],
    [81, 263, 0.2552898, 0.3662],
    [1, 1, 0.2065493, 1],
  ])('%i of %i correct', (right, n, low, high) => {
    const scores = Array.from({ length: n }, (_, index) => (index < right ? 1 : 0))
    const interval = meanInterval(scores)
    expect(interval.mean).toBe(right / n)
    expect(interval.low).toBeCloseTo(low, 4)
    expect(interval.high).toBeCloseTo(high, 4)
  })

  test('the mean lies within the interval, and the interval within 0 to 1', () => {
    fc.assert(
      fc.property(fc.oneof(zeroOrOne, fractions), (scores) => {
        const { mean, low, high } = meanInterval(scores)
        expect(0 <= low && low <= mean && mean <= high && high <= 1).toBe(true)
        expect(high - low).toBeGreaterThan(0)
      }),
    )
  })

  test('swapping right and wrong mirrors the interval', () => {
    fc.assert(
      fc.property(zeroOrOne, (scores) => {
        const { mean, low, high } = meanInterval(scores)
        const mirrored = meanInterval(scores.map((score) => 1 - score))
        expect(mirrored.mean).toBeCloseTo(1 - mean, 12)
        expect(mirrored.low).toBeCloseTo(1 - high, 12)
        expect(mirrored.high).toBeCloseTo(1 - low, 12)
      }),
    )
  })

  test('more questions narrow it', () => {
    fc.assert(
      fc.property(fractions, (scores) => {
        const once = meanInterval(scores)
        const fourTimes = meanInterval([...scores, ...scores, ...scores, ...scores])
        expect(fourTimes.high - fourTimes.low).toBeLessThan(once.high - once.low)
      }),
    )
  })

  test.each([[[]], [[0.5, 1.1]], [[-0.1]], [[Number.NaN]]])('%j is refused', (scores) => {
    expect(() => meanInterval(scores)).toThrow(RangeError)
  })
})

describe('paired bootstrap', () => {
  const seed = 7
  const few = { seed, resamples: 300 }
  const pairs = fc.array(fc.tuple(unit, unit), { minLength: 1, maxLength: 30 })

  test('identical scores have no difference', () => {
    fc.assert(
      fc.property(fractions, (scores) => {
        expect(pairedBootstrap(scores, scores, few)).toEqual({
          difference: 0,
          low: 0,
          high: 0,
          probability: 0.5,
        })
      }),
    )
  })

  test('swapping the two mirrors everything', () => {
    fc.assert(
      fc.property(pairs, (rows) => {
        const [a, b] = [rows.map(([score]) => score), rows.map(([, score]) => score)]
        const one = pairedBootstrap(a, b, few)
        const other = pairedBootstrap(b, a, few)
        expect(other.difference + one.difference).toBe(0)
        expect(other.low + one.high).toBe(0)
        expect(other.high + one.low).toBe(0)
        expect(other.probability + one.probability).toBeCloseTo(1, 12)
      }),
    )
  })

  test('bounds lie between the smallest and largest difference', () => {
    fc.assert(
      fc.property(pairs, (rows) => {
        const differences = rows.map(([a, b]) => a - b)
        const { low, high, probability } = pairedBootstrap(
          rows.map(([a]) => a),
          rows.map(([, b]) => b),
          few,
        )
        expect(low).toBeLessThanOrEqual(high)
        expect(low).toBeGreaterThanOrEqual(Math.min(...differences) - 1e-12)
        expect(high).toBeLessThanOrEqual(Math.max(...differences) + 1e-12)
        expect(probability >= 0 && probability <= 1).toBe(true)
      }),
    )
  })

  test('a single question has a zero-width interval', () => {
    expect(pairedBootstrap([1], [0], { seed })).toEqual({
      difference: 1,
      low: 1,
      high: 1,
      probability: 1,
    })
  })

  // 60 wins, 20 losses, 20 ties: mean 0.4, standard deviation 0.8, standard error 0.08.
  test('matches the normal interval where that applies', () => {
    const a = Array.from({ length: 100 }, (_, index) => (index < 70 ? 1 : 0))
    const b = Array.from({ length: 100 }, (_, index) => (index >= 60 && index < 90 ? 1 : 0))
    const { difference, low, high, probability } = pairedBootstrap(a, b, { seed })
    expect(difference).toBeCloseTo(0.4, 12)
    expect(low).toBeCloseTo(0.4 - 1.96 * 0.08, 1.5)
    expect(high).toBeCloseTo(0.4 + 1.96 * 0.08, 1.5)
    expect(probability).toBe(1)
  })

  test('the same seed repeats the result, another seed changes it', () => {
    const a = Array.from({ length: 50 }, (_, index) => ((index * 7) % 11) / 11)
    const b = Array.from({ length: 50 }, (_, index) => ((index * 5) % 13) / 13)
    expect(pairedBootstrap(a, b, { seed })).toEqual(pairedBootstrap(a, b, { seed }))
    expect(pairedBootstrap(a, b, { seed })).not.toEqual(pairedBootstrap(a, b, { seed: 8 }))
  })

  test.each([
    [[], [], {}, 'no pairs'],
    [[1], [1, 0], {}, 'there are 1 and 2'],
    [[Number.NaN], [1], {}, 'finite'],
    [[1], [1], { resamples: 0 }, 'number of resamples is 0'],
  ])('%j against %j with %j is refused', (a, b, more, problem) => {
    expect(() => pairedBootstrap(a, b, { seed, ...more })).toThrow(problem)
  })
})

describe('the smallest detectable difference', () => {
  test('without pairs depends only on the number of questions, and halves with four times as many', () => {
    expect(detectableDifference(100)).toBeCloseTo(2.8016 * Math.sqrt(0.003), 4)
    expect(detectableDifference(400)).toBeCloseTo(detectableDifference(100) / 2, 12)
    expect(detectableDifference(1)).toBe(1)
  })

  test('depends on how often pairs disagree, and is never zero', () => {
    const agreeing = new Array(100).fill(0)
    const disagreeing = agreeing.map((_, index) => (index % 2 === 0 ? 1 : -1))
    expect(detectableDifference(100, agreeing)).toBeGreaterThan(0.02)
    expect(detectableDifference(100, disagreeing)).toBeGreaterThan(detectableDifference(100, agreeing))
  })

  test('is detected in four of five evaluations', () => {
    const n = 200
    const random = deriveRandom(5, 'power')
    const share = 0.3
    const effect = detectableDifference(n)
    // Disagreeing pairs are won with the probability that yields the effect on average.
    const won = (1 + effect / share) / 2
    let shown = 0
    for (let trial = 0; trial < 2000; trial += 1) {
      const draws = Array.from({ length: n }, () =>
        random.uniform() < share ? (random.uniform() < won ? 1 : -1) : 0,
      ) as number[]
      const mean = draws.reduce((a, b) => a + b, 0) / n
      const variance = draws.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (n - 1)
      if (mean / Math.sqrt(variance / n) > 1.96) shown += 1
    }
    expect(shown / 2000).toBeGreaterThan(0.76)
    expect(shown / 2000).toBeLessThan(0.86)
  })
})
