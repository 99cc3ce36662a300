// Small enough to check with pencil and paper.
import { expect, test } from 'vitest'
import { type D1Record, d1Assignments, d1Table } from './d1-table.ts'
import { coverageBound, executionsForShare, verifiedCoverage } from './d2-coverage.ts'
import { d3Statistics } from './d3-statistics.ts'

test('D1: two questions, where a decomposer group helps and a failure spoils a right answer', () => {
  // AAA solves x. GAA solves both. AAG solves both too, but a node failed on y. All others solve x.
  const records = d1Assignments.flatMap((assignment): D1Record[] => {
    const groups = assignment.replaceAll('A', '').length
    const tokens = { input: 100 * (1 + groups), output: 10 }
    const alsoY = assignment === 'GAA' || assignment === 'AAG'
    return [
      { assignment, example: 'x', scoreCorrect: true, failures: 0, ...tokens },
      { assignment, example: 'y', scoreCorrect: alsoY, failures: assignment === 'AAG' ? 1 : 0, ...tokens },
    ]
  })
  const table = d1Table(records)
  const row = (assignment: string) => table.rows.find((one) => one.assignment === assignment)!
  expect(row('AAA')).toMatchObject({ correct: 1, accuracy: 50, tokens: 220, onFrontier: true })
  expect(row('GAA')).toMatchObject({ correct: 2, accuracy: 100, tokens: 420, wins: 1, changeAgainstAAA: 50 })
  expect(row('AAG')).toMatchObject({ correct: 1, correctBeforeFailures: 2, withFailures: 1, wins: 0 })
  // Two groups fewer than GGG's 820 tokens: 100 · (420 / 820 − 1).
  expect(row('GAA').tokenChangeAgainstGGG).toBeCloseTo(-48.7805, 4)
  expect(table.rows.filter(({ onFrontier }) => onFrontier).map(({ assignment }) => assignment)).toEqual([
    'AAA',
    'GAA',
  ])
  expect(table).toMatchObject({
    preferred: 'GAA',
    endpointsBest: 50,
    gainOverEndpoints: 50,
    interventions: { decomposer: 50, solver: 0, verifier: 0 },
  })
})

test('D2: three roles have eight assignments; six executions of three kinds verify three of them', () => {
  expect(coverageBound(3, 6)).toEqual({ configurations: 8n, verifiedBound: 6n, coverageBound: 0.75 })
  const executed = ['AAG', 'AAG', 'GGG', 'AAG', 'GGG', 'AAA']
  expect(verifiedCoverage(3, 6, executed)).toEqual({ verified: 3, coverage: 0.375 })
  // With a budget of two, only the second AAG is left to count.
  expect(verifiedCoverage(3, 2, executed)).toEqual({ verified: 1, coverage: 0.125 })
  // A third of eight is 2.67.
  expect(executionsForShare(3, [1, 3])).toBe(3n)
})

test('D3: of three constructions with equal scores, only dense returns separate two', () => {
  // Φ after each addition: (0.2, 0.5), (0.2, 0.2) and (0.1); S = 1 for all.
  const [a, b, c] = [
    { rewards: [0.2, 0.3], terminalShapingReward: -0.5 },
    { rewards: [0.2, 0], terminalShapingReward: -0.2 },
    { rewards: [0.1], terminalShapingReward: -0.1 },
  ].map((stored) => ({ ...stored, terminalReward: 1, forcedStop: false })) as [never, never, never]
  const statistics = d3Statistics([[a, b, c]], 3)
  // At t = 1 the dense returns are 1 − Φ: 0.8 and 0.8 for the additions of a and b, 0.9 for the STOP of c.
  expect(statistics.intermediateAdd).toEqual({
    actions: 2,
    terminalNonzero: 0,
    denseNonzero: 2,
    terminalRate: 0,
    denseRate: 1,
  })
  // All three begin with G = 1, so nothing separates them there.
  expect(statistics.initial).toMatchObject({ actions: 3, terminalNonzero: 0, denseNonzero: 0 })
  // STOPs: c at t = 1 (0.9 against 0.8 twice), a and b at t = 2 (0.5 and 0.8).
  expect(statistics.sampledStop).toMatchObject({ actions: 3, terminalNonzero: 0, denseNonzero: 3 })
  // Three pairs of equal score; only a and b both have a second addition, and there both returns are 0.8.
  expect(statistics.pairs).toEqual({ equalScorePairs: 3, eligible: 1, distinguished: 0, rate: 0 })
})

test('D3: additions that only one construction reaches count as zero; an empty set has no rate', () => {
  const stops = { rewards: [], terminalShapingReward: 0, terminalReward: 1, forcedStop: false }
  const long = { rewards: [0.1, 0.1], terminalShapingReward: -0.2, terminalReward: 0, forcedStop: false }
  expect(d3Statistics([[stops, long]], 3).intermediateAdd).toEqual({
    actions: 1,
    terminalNonzero: 0,
    denseNonzero: 0,
    terminalRate: 0,
    denseRate: 0,
  })
  expect(d3Statistics([[stops, stops]], 3).intermediateAdd).toMatchObject({ actions: 0, denseRate: null })
})

test('D2: counts beyond double precision stay exact; invalid counts and assignments are refused', () => {
  expect(coverageBound(60, 2n ** 59n + 1n)).toMatchObject({
    configurations: 2n ** 60n,
    verifiedBound: 2n ** 59n + 1n,
  })
  expect(executionsForShare(100, [1, 3])).toBe((2n ** 100n + 2n) / 3n)
  expect(coverageBound(0, 0)).toEqual({ configurations: 1n, verifiedBound: 0n, coverageBound: 0 })
  expect(verifiedCoverage(0, 3, ['', ''])).toEqual({ verified: 1, coverage: 1 })
  expect(coverageBound(5000, 1).coverageBound).toBe(0)
  for (const refused of [
    () => coverageBound(-1, 1),
    () => coverageBound(1.5, 1),
    () => executionsForShare(3, [3, 2]),
  ])
    expect(refused).toThrow()
  expect(() => verifiedCoverage(2, 1, ['AB'])).toThrow("'AB' is not an assignment of 2 roles")
})
