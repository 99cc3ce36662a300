import { expect, test } from 'vitest'
import { sameQuestions } from './run-overview.ts'

test('early and late scores are compared on shared questions only', () => {
  const updates = [
    { query: 'a', score: 0 },
    { query: 'b', score: 1 },
    { query: 'hard', score: 0 },
    { query: 'a', score: 0.5 },
    { query: 'b', score: 1 },
    { query: 'easy', score: 1 },
    { query: 'a', score: 1 },
  ]
  expect(sameQuestions(updates)).toEqual({ questions: 2, first: 0.5, last: 1 })
  expect(sameQuestions(updates.slice(0, 3))).toBeUndefined()
})
