// Edge cases implied by the specification: ties, empty sets, values that differ by rounding only.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changeText, marks, tokensText, twoDecimals } from './displayed.ts'
import { matchBudget } from './matched-budget.ts'
import { paretoFrontier } from './pareto.ts'
import { compareSeeds, seedMean } from './seed-summary.ts'

const figure = fc.integer({ min: 0, max: 6 })
const points = fc
  .array(fc.record({ score: figure, tokens: figure }), { maxLength: 9 })
  .map((list) => list.map((point, index) => ({ name: `p${index}`, ...point })))

test('every point is on the frontier or dominated by it; order does not matter', () => {
  fc.assert(
    fc.property(points, (list) => {
      const { frontier, dominated } = paretoFrontier(list)
      expect([...frontier, ...Object.keys(dominated)].sort()).toEqual(list.map(({ name }) => name).sort())
      for (const by of Object.values(dominated)) expect(by.some((name) => frontier.includes(name))).toBe(true)
      const reversed = paretoFrontier([...list].reverse())
      expect(reversed.frontier).toEqual(frontier)
      expect(reversed.dominated).toEqual(dominated)
    }),
  )
})

test('points that differ by rounding are equal: both are on the frontier, ordered by name', () => {
  const sum = 0.1 + 0.2
  const { frontier, dominated } = paretoFrontier([
    { name: 'b', score: 0.3, tokens: sum },
    { name: 'a', score: sum, tokens: 0.3 },
  ])
  expect(frontier).toEqual(['a', 'b'])
  expect(dominated).toEqual({})
})

test('a value within rounding of the budget fits; a larger one does not', () => {
  const settings = fc.uniqueArray(fc.record({ setting: figure, tokens: figure, score: figure }), {
    selector: ({ setting }) => setting,
  })
  fc.assert(
    fc.property(settings, figure, (list, budget) => {
      const { within, share, above } = matchBudget(budget, list)
      const of = (chosen: number | null) => list.find(({ setting }) => setting === chosen)
      const [fitting, next] = [of(within), of(above)]
      for (const { tokens, score, setting } of list) {
        if (tokens > budget) expect(next!.tokens).toBeLessThanOrEqual(tokens)
        else expect(fitting!.tokens).toBeGreaterThanOrEqual(tokens)
        const rival = tokens > budget ? next! : fitting!
        if (rival.tokens === tokens) expect(rival.score).toBeGreaterThanOrEqual(score)
        if (rival.tokens === tokens && rival.score === score)
          expect(rival.setting).toBeLessThanOrEqual(setting)
      }
      expect(share === null).toBe(fitting === undefined || budget === 0)
    }),
  )
  expect(matchBudget(0.3, [{ setting: 1, tokens: 0.1 + 0.2, score: 1 }]).within).toBe(1)
  // An empty set has no share.
  expect(matchBudget(0, [{ setting: 1, tokens: 0, score: 1 }])).toEqual({
    within: 1,
    share: null,
    above: null,
  })
})

test('the sign-flip test counts all patterns, however it is computed', () => {
  const differences = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 9 })
  fc.assert(
    fc.property(differences, (list) => {
      const sumOf = (pattern: number) =>
        Math.abs(
          list.reduce((sum, value, index) => sum + (((pattern >> index) & 1) === 1 ? value : -value), 0),
        )
      const all = sumOf(2 ** list.length - 1)
      const patterns = [...Array(2 ** list.length).keys()]
      const expected = patterns.filter((pattern) => sumOf(pattern) >= all).length / patterns.length
      const { p, ahead, behind, equal } = compareSeeds(
        list,
        list.map(() => 0),
      )
      expect(p).toBeCloseTo(expected, 12)
      expect(ahead + behind + equal).toBe(list.length)
    }),
  )
})

test('seeds without spread have a zero-width interval; scores that differ by rounding are equal', () => {
  expect(seedMean([0.5, 0.5, 0.5])).toEqual({ n: 3, mean: 0.5, deviation: 0, low: 0.5, high: 0.5 })
  const same = compareSeeds([0.1 + 0.2, 0.7], [0.3, 0.7])
  expect(same).toMatchObject({ ahead: 0, behind: 0, equal: 2, p: 1 })
  // All seeds lead by the same margin: no deviation, and the smallest p that four seeds allow.
  expect(compareSeeds([2, 3, 4, 5], [1, 2, 3, 4])).toMatchObject({
    p: 0.125,
    difference: { low: 1, high: 1 },
  })
})

test('halves round up, even when a sum falls short by rounding', () => {
  expect([83.125, 1.005, 0.125, 266 / 3.2].map(twoDecimals)).toEqual(['83.13', '1.01', '0.13', '83.13'])
  expect(twoDecimals(-0.001)).toBe('0.00')
  expect([-0.004, 0.005, -44.755].map((value) => changeText(value))).toEqual(['=0.00', '↑0.01', '↓44.76'])
  expect([0, 1, 9.96, 99_500, 994_999].map(tokensText)).toEqual([
    '0',
    '1.0×10^0',
    '1.0×10^1',
    '1.0×10^5',
    '9.9×10^5',
  ])
})

test('equal values share a mark, and the next distinct one ranks second', () => {
  expect(marks([3, 3, 2, 1, 2], true)).toEqual(['best', 'best', 'second', null, 'second'])
  expect(marks([3, 3], false)).toEqual(['best', 'best'])
  expect(marks([0.1 + 0.2, 0.3, 0.2], true)).toEqual(['best', 'best', 'second'])
})
