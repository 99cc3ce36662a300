import { expect, test } from 'vitest'
import {
  baseOf,
  compareEvaluations,
  evaluationLabels,
  type KeptEvaluation,
  latestEvaluations,
} from './compare-evaluations.ts'
import { organisationReport, type QuestionRecord } from './organisation-report.ts'

const record = (task: string, score: number): QuestionRecord => ({
  ...{ task, score, graph: { units: [] }, graphKey: '', status: 'answered', failures: [] },
  ...{ answer: 'A', parse: 'ok', execution: 'e', cost: 'unpriced', durationMs: 1 },
  usage: { input: 10, cachedInput: 0, output: 2, calls: 1, attempts: 1, failedAttempts: 0, unknown: 0 },
})

function kept(
  run: string,
  organisation: string,
  about: Record<string, number>,
  scores: readonly number[],
  others: { data?: string; begunAt?: number } = {},
): KeptEvaluation {
  const { data = 'same', begunAt = 0 } = others
  const records = scores.map((score, index) => record(`q${index}`, score))
  const description = ''
  const split = 'test'
  return {
    ...{ run, begunAt, folder: `${run}/${organisation}/${begunAt}` },
    header: {
      ...{ format: 'magic-evaluation-1', organisation, description, about, split, tasks: 3, data },
      ...{ executors: [], model: 'p/m' },
    },
    report: organisationReport({ organisation, description, split, tasks: 3 }, records),
  }
}

test('of repeated evaluations the last complete one counts', () => {
  const all = [
    kept('a', 'trained', { update: 3 }, [1, 1, 1], { begunAt: 1 }),
    kept('a', 'trained', { update: 3 }, [0, 0, 0], { begunAt: 2 }),
    kept('a', 'trained', { update: 3 }, [1], { begunAt: 3 }),
    kept('a', 'trained', { update: 4 }, [1], { begunAt: 4 }),
  ]
  expect(latestEvaluations(all).map(({ begunAt }) => begunAt)).toEqual([2, 4])
})

test('labels show only what differs', () => {
  const trained = kept('a', 'trained', { update: 3, seed: 1 }, [1])
  const direct = kept('a', 'direct', {}, [1])
  expect(evaluationLabels([trained, direct])).toEqual(['trained', 'direct'])
  const later = kept('a', 'trained', { update: 9, seed: 1 }, [1])
  expect(evaluationLabels([trained, later])).toEqual(['trained (update 3)', 'trained (update 9)'])
  expect(evaluationLabels([trained, kept('b', 'trained', { update: 3, seed: 1 }, [1])])).toEqual([
    'a: trained',
    'b: trained',
  ])
})

test('the base is found by run, organisation or label', () => {
  const one = [kept('a', 'trained', {}, [1]), kept('a', 'direct', {}, [1]), kept('a', 'untrained', {}, [1])]
  expect(baseOf(one, undefined)).toBe(2)
  expect(baseOf(one.slice(0, 2), undefined)).toBe(1)
  const both = [...one, kept('b', 'trained, all-group', {}, [1]), kept('b', 'trained', {}, [1])]
  expect(baseOf(both, undefined)).toBe(0)
  expect(baseOf(both, 'b')).toBe(4)
  expect(baseOf(both, 'all-group')).toBe(3)
  expect(baseOf(both, 'b: trained')).toBe(4)
  expect(() => baseOf(both, 'best')).toThrow(/'best' to compare with. There are: a: trained;/)
})

test('evaluations of other questions are refused', () => {
  const own = kept('a', 'trained', {}, [1, 0, 1])
  const [, other] = compareEvaluations([own, kept('a', 'direct', {}, [0, 0, 1])], 0)
  expect(other!.against).toMatchObject({ wins: 0, losses: 1, ties: 2, questions: 3 })
  const foreign = kept('b', 'direct', {}, [1], { data: 'another' })
  expect(() => compareEvaluations([own, foreign], 0)).toThrow(/not of the same questions.*same: a: trained/s)
})
