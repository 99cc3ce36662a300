import { expect, test } from 'vitest'
import type { TatqaReference } from '../src/tasks/scoring/reference.ts'
import { aggregateTatqa } from './tatqa-aggregate.ts'

const reference: TatqaReference = { kind: 'tatqa', answerType: 'span', answers: ['one two three'], scale: '' }

test('a missing prediction counts in the denominator', () => {
  const overall = aggregateTatqa([
    [reference, { values: ['one two three'], scale: '' }],
    [reference, { values: ['one'], scale: 'million' }],
    [reference, undefined],
    [reference, { values: [], scale: '' }],
  ])
  expect(overall).toEqual({
    questions: 4,
    missing_predictions: 1,
    em: 0.25,
    f1: (1 + 0.4) / 4,
    scale: 0.25,
    sum_em: 1,
    sum_f1: 1.4,
  })
})

test('an empty set does not divide by zero', () => {
  expect(aggregateTatqa([])).toMatchObject({ questions: 0, em: 0, f1: 0, scale: 0 })
})
