import { expect, test } from 'vitest'
import type { KeptEvaluation } from './compare-evaluations.ts'
import { organisationReport, type QuestionRecord } from './organisation-report.ts'
import { worthOfTraining } from './worth.ts'

const record = (task: string, score: number, input: number): QuestionRecord => ({
  ...{ task, score, graph: { units: [] }, graphKey: '', status: 'answered', failures: [] },
  ...{ answer: 'A', parse: 'ok', execution: 'e', cost: 'unpriced', durationMs: 1 },
  usage: { input, cachedInput: 0, output: 0, calls: 1, attempts: 1, failedAttempts: 0, unknown: 0 },
})

function kept(
  organisation: string,
  right: number,
  { begunAt = 0, tokens = 100, model = 'p/m', data = 'same', n = 100 } = {},
): KeptEvaluation {
  const records = Array.from({ length: n }, (_, index) => record(`q${index}`, index < right ? 1 : 0, tokens))
  const reported = { organisation, description: '', split: 'test', tasks: 100 }
  return {
    ...{ run: 'a', begunAt, folder: `${organisation}-${begunAt}` },
    header: { ...reported, format: 'magic-evaluation-1', about: { begunAt }, data, executors: [], model },
    report: organisationReport(reported, records),
  }
}

test.each([
  [90, 70, 'better'],
  [70, 90, 'worse'],
  [71, 70, 'no better'],
] as const)('%d trained against %d searched is %s, with both costs', (trained, searched, verdict) => {
  const worth = worthOfTraining([
    kept('trained', trained, { tokens: 80 }),
    kept('searched', searched),
    kept('direct', 10),
  ])!
  expect(worth).toMatchObject({ verdict, questions: 100, tokens: { trained: 80, searched: 100 } })
  expect(worth.difference).toBeCloseTo((trained - searched) / 100, 12)
})

test('compares the newest complete evaluations of the same questions and model, if any', () => {
  const all = [
    kept('trained', 90, { begunAt: 1 }),
    kept('searched', 90, { begunAt: 2 }),
    kept('searched', 50, { begunAt: 3 }),
    kept('searched', 10, { begunAt: 4, n: 60 }),
    kept('searched', 20, { begunAt: 5, model: 'p/other' }),
    kept('searched', 20, { begunAt: 6, data: 'other' }),
  ]
  expect(worthOfTraining(all)!.difference).toBeCloseTo(0.4, 12)
  expect(worthOfTraining(all.slice(3))).toBeUndefined()
  expect(worthOfTraining([])).toBeUndefined()
})
