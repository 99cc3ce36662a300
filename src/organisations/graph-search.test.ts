import { expect, test } from 'vitest'
import { asked, runOrganisation } from '../../test/organisations/organisation-run.ts'
import { graphSearch } from './graph-search.ts'

test('plans steps, scores possible next roles, chooses among chains, and runs the chain', async () => {
  const scores: Record<string, Record<string, number>> = {
    '': { alpha: 1, beta: 5, gamma: 4, delta: 1, omega: 1 },
    beta: { alpha: 3, gamma: 2, delta: 5, omega: 1 },
    gamma: { alpha: 2, beta: 1, delta: 1, omega: 5 },
  }
  const { calls, answer, execution } = await runOrganisation(graphSearch, { steps: 2 }, ({ who, brief }) => {
    if (who === 'planner') return { steps: ['collect', 'decide', 'one too many'] }
    if (who === 'scorer') return { scores: scores[(brief!['path'] as string[]).join()]! }
    if (who === 'chooser') return { choice: 2 }
    return who.length
  })
  expect(asked(calls)).toEqual([
    'planner',
    'scorer',
    'scorer',
    'scorer',
    'chooser',
    'beta',
    'alpha',
    'finalizer',
  ])
  expect(calls[1]!.brief).toMatchObject({ steps: ['collect', 'decide'], path: [], step: 'collect' })
  // beta cannot occur twice; omega may not be heard by anyone, but may come last.
  expect((calls[2]!.brief!['candidates'] as { role: string }[]).map(({ role }) => role)).toEqual([
    'alpha',
    'gamma',
    'delta',
    'omega',
  ])
  expect(calls[4]!.brief).toEqual({
    paths: [
      ['beta', 'delta'],
      ['beta', 'alpha'],
      ['gamma', 'omega'],
      ['gamma', 'alpha'],
    ],
  })
  expect(calls.slice(5).map(({ hears }) => hears)).toEqual([[], ['beta-6: 4'], ['alpha-7: 5']])
  expect(answer).toBe('9')
  expect(execution.usage.calls).toBe(8)
})

test.each([
  ['greedy', [['beta', 'delta']]],
  [
    'adaptive',
    [
      ['beta', 'delta'],
      ['beta', 'alpha'],
      ['gamma', 'omega'],
      ['delta', 'alpha'],
    ],
  ],
] as const)('a %s search follows the expected roles', async (strategy, paths) => {
  const scores: Record<string, Record<string, number>> = {
    '': { alpha: 1, beta: 5, gamma: 4, delta: 3, omega: 2 },
    beta: { alpha: 3, gamma: 2, delta: 5, omega: 1 },
    gamma: { alpha: 2, beta: 1, delta: 1, omega: 5 },
    // None is good, so the best is followed.
    delta: { alpha: 2, beta: 1, gamma: 1, omega: 1 },
  }
  const { calls } = await runOrganisation(graphSearch, { strategy, steps: 2 }, ({ who, brief }) => {
    if (who === 'planner') return { steps: ['collect', 'decide'] }
    if (who === 'scorer') return { scores: scores[(brief!['path'] as string[]).join()]! }
    return who === 'chooser' ? { choice: 1 } : 1
  })
  // A single path needs no choice.
  expect(calls.find(({ who }) => who === 'chooser')?.brief?.['paths'] ?? [['beta', 'delta']]).toEqual(paths)
  expect(asked(calls).slice(-3)).toEqual(['beta', 'delta', 'finalizer'])
})

test('stays within the limit on search calls', async () => {
  const { calls } = await runOrganisation(graphSearch, { steps: 4, calls: 3 }, ({ who }) =>
    who === 'planner'
      ? { steps: ['a', 'b', 'c', 'd'] }
      : who === 'scorer'
        ? { scores: {} }
        : who === 'chooser'
          ? { choice: 1 }
          : 1,
  )
  expect(calls.filter(({ who }) => who === 'scorer')).toHaveLength(3)
})
