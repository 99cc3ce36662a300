import { expect, test } from 'vitest'
import { budgetShares, partOf, type SeedResult, tokenWorths } from './examine-seed.ts'
import { firstToReach, learningFigures, seedInterval } from './figures.ts'

/** A hundred questions; the first `right` of them are answered correctly. */
function result(seed: number, part: string, right: number, tokens: number): SeedResult {
  const scores = Array.from({ length: 100 }, (_, question) => (question < right ? 1 : 0))
  return { seed, part, scores, tokens, spent: 10, seconds: 1 }
}

function resultsOf(seed: number, ours: number): SeedResult[] {
  return [
    result(seed, 'untrained', 40, 1000),
    result(seed, 'paper', 50, 1000),
    result(seed, 'searched', 60, 2000),
    result(seed, 'ours', ours, 1800),
    result(seed, partOf.shuffled, 55, 1800),
    ...budgetShares.map((share) => result(seed, partOf.share(share), 45 + 25 * share, 1800)),
    ...tokenWorths.map((worth, index) =>
      result(seed, partOf.worth(worth), 65 - 10 * index, 1500 - 500 * index),
    ),
  ]
}

test('differences are means over seeds, in points, and count the seeds whose own interval excludes zero', () => {
  const { differences, figures } = learningFigures([
    ...resultsOf(1, 72),
    ...resultsOf(2, 60),
    ...resultsOf(3, 74),
  ])
  const { mean, seedsAbove, seedsBelow, bySeed } = differences.gain_vs_searched
  expect(bySeed.map(Math.round)).toEqual([12, 0, 14])
  expect(mean).toBeCloseTo(26 / 3, 9)
  expect([seedsAbove, seedsBelow]).toEqual([2, 0])
  expect(figures['gain_vs_searched']).toBe(mean)
  expect(figures['tokens_vs_searched']).toBeCloseTo(0.9, 12)
})

test('crossings are interpolated linearly between two points', () => {
  const { figures } = learningFigures([...resultsOf(1, 70), ...resultsOf(2, 70)])
  // 60 lies halfway between 65 of 100 at 1500 tokens and 55 at 1000: 1250 of 2000 tokens.
  expect(figures['tokens_at_searched_score']).toBeCloseTo(1250 / 2000, 9)
  // 50 of 100 between shares 0.1 (48 of 100, since scores are whole) and 0.2 (50).
  expect(figures['evaluations_to_match_paper']).toBeCloseTo(0.2, 9)
  expect(figures).not.toHaveProperty('conditional_right_roles_200')
})

test('a target below the first point is reached there, and one above all points never', () => {
  const points = [
    { at: 0.1, score: 0.5 },
    { at: 1, score: 0.6 },
  ]
  expect(firstToReach(points, 0.4)).toBe(0.1)
  expect(firstToReach(points, 0.55)).toBeCloseTo(0.55, 12)
  expect(firstToReach(points, 0.7)).toBe(Number.POSITIVE_INFINITY)
})

test('the interval over seeds uses Student’s t', () => {
  // By hand: standard deviation 2, so 4.303 · 2 / √3 around 3.
  const { mean, low, high } = seedInterval([1, 3, 5])
  expect(mean).toBe(3)
  expect(high - 3).toBeCloseTo(4.9687, 3)
  expect(3 - low).toBeCloseTo(4.9687, 3)
  expect(seedInterval([4])).toEqual({ mean: 4, low: -Infinity, high: Infinity })
})

test('a seed with missing parts is named', () => {
  expect(() => learningFigures(resultsOf(1, 70).slice(1))).toThrow("Seed 1 has no result for 'untrained'")
})
