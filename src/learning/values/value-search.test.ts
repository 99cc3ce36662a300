import { expect, test } from 'vitest'
import { tinyLibrary } from '../../../test/tiny-library.ts'
import { graphKey } from '../../graph/graph-key.ts'
import { assertLegalGraph, type ConstructionSpace } from '../../graph/legality.ts'
import { valueRounds } from '../../settings/training.ts'
import type { Look } from './value-model.ts'
import { proposeLooks, type ValueSearchOptions } from './value-search.ts'

const space: ConstructionSpace = { roles: tinyLibrary.space, restriction: 'mixed', maxUnits: 2, maxDepth: 4 }
const traits = Array.from({ length: 30 }, (_, question) => Float64Array.of(question % 2 === 0 ? 1 : -1))
const options: ValueSearchOptions = {
  seed: 5,
  evaluations: 300,
  tokenWorth: 1e-6,
  patience: 0,
  space,
  traits,
}
const rounds = valueRounds.survey + valueRounds.explore + valueRounds.confirm

/** Role `a` solves even questions, `b` odd ones. */
function scored(pairs: ReturnType<typeof proposeLooks>): Look[] {
  return pairs.map(({ graph, question }) => {
    const right = graph.units.some(({ role }) => role === (question % 2 === 0 ? 'a' : 'b'))
    return { graph, question, score: right ? 1 : 0, tokens: 1000 * (1 + graph.size) }
  })
}

function search(given: Partial<ValueSearchOptions> = {}): Look[][] {
  const made: Look[][] = []
  while (made.length < rounds) made.push(scored(proposeLooks(made, { ...options, ...given })))
  return made
}

const whole = search()

test('stays within its budget, pays for nothing twice, and only for legal graphs', () => {
  const looks = whole.flat()
  expect(looks.length).toBeLessThanOrEqual(300)
  expect(looks.length).toBeGreaterThan(200)
  expect(new Set(looks.map(({ graph, question }) => `${graphKey(graph)} ${question}`)).size).toBe(
    looks.length,
  )
  for (const { graph } of looks) assertLegalGraph(graph, space)
})

test('moves toward good graphs and ends with ones that ran on all questions', () => {
  const made = whole
  const mean = (looks: readonly Look[]) => looks.reduce((sum, { score }) => sum + score, 0) / looks.length
  expect(mean(made[valueRounds.survey + valueRounds.explore - 1]!)).toBeGreaterThan(mean(made[0]!) + 0.2)
  const counts = Map.groupBy(made.flat(), ({ graph }) => graphKey(graph))
  expect([...counts.values()].filter((looks) => looks.length === traits.length).length).toBeGreaterThan(1)
})

test('depends only on the looks so far', () => {
  for (const round of [0, 3, valueRounds.survey, rounds - 1])
    expect(scored(proposeLooks(whole.slice(0, round), options))).toEqual(whole[round])
})

test('never pays for looks known from earlier runs, but learns from them', () => {
  const known = whole.flat()
  const key = ({ graph, question }: Pick<Look, 'graph' | 'question'>) => `${graphKey(graph)} ${question}`
  const keys = new Set(known.map(key))
  const mean = (looks: readonly Look[]) => looks.reduce((sum, { score }) => sum + score, 0) / looks.length
  // With the same seed, the first look at random graphs is already known.
  expect(proposeLooks([], { ...options, known })).toEqual([])
  const again = search({ seed: 6, known })
  expect(again.flat().filter((look) => keys.has(key(look)))).toEqual([])
  expect(again.flat().length).toBeGreaterThan(200)
  expect(again.flat().length).toBeLessThanOrEqual(300)
  // Its next choices follow the known looks, right or wrong.
  const wrong = known.map((look) => ({ ...look, score: 1 - look.score }))
  const surveyed = Array.from({ length: valueRounds.survey }, () => [])
  expect(mean(scored(proposeLooks(surveyed, { ...options, known })))).toBeGreaterThan(0.8)
  expect(mean(scored(proposeLooks(surveyed, { ...options, known: wrong })))).toBeLessThan(0.2)
  expect(proposeLooks(whole.slice(0, 3), { ...options, known: [] })).toEqual(
    whole[3]!.map(({ graph, question }) => ({ graph, question })),
  )
})

test('with patience it stops exploring once nothing improves', () => {
  const made = search({ patience: 2 })
  expect(made.flat().length).toBeLessThan(whole.flat().length)
  const explored = made.slice(valueRounds.survey, valueRounds.survey + valueRounds.explore)
  const last = explored.findIndex((looks) => looks.length === 0)
  expect(last).toBeGreaterThan(1)
  expect(explored.slice(last).every((looks) => looks.length === 0)).toBe(true)
  expect(made.at(-1)!.length).toBeGreaterThan(0)
})

test('works with very few questions and evaluations', () => {
  const few = traits.slice(0, 3)
  const made: Look[][] = []
  while (made.length < rounds)
    made.push(scored(proposeLooks(made, { ...options, traits: few, evaluations: 12 })))
  expect(made.flat().length).toBeLessThanOrEqual(12)
})

test('a large budget per question is mostly spent', () => {
  const evaluations = 100 * traits.length
  const spent = search({ evaluations, space: { ...space, maxUnits: 3 } }).flat().length
  expect(spent).toBeGreaterThan(0.8 * evaluations)
})

test('with a token limit it explores and confirms graphs within it', () => {
  const made = search({ maxTokens: 2100 })
  const size = (looks: readonly Look[]) =>
    looks.reduce((sum, { graph }) => sum + graph.size, 0) / looks.length
  expect(size(made.slice(valueRounds.survey).flat())).toBeLessThan(
    size(whole.slice(valueRounds.survey).flat()),
  )
  const counts = Map.groupBy(made.flat(), ({ graph }) => graphKey(graph))
  const all = [...counts.values()].filter((looks) => looks.length === traits.length)
  expect(all.some(([look]) => look!.graph.size <= 1)).toBe(true)
})
