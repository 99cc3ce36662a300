import { expect, test } from 'vitest'
import { readOptions } from './given-question.ts'

test.each([
  [['A) Paris', 'B) Rome']],
  [['A. Paris', ' B: Rome ']],
  [['(A) Paris', '(B) Rome']],
  [['Paris', 'Rome']],
])('%j parse as two options', (texts) => {
  expect(readOptions(texts)).toEqual([
    { label: 'A', text: 'Paris' },
    { label: 'B', text: 'Rome' },
  ])
})

test('a letter that does not match its position is text', () => {
  expect(readOptions(['A) vitamin C.', 'D) is not a label here'])).toEqual([
    { label: 'A', text: 'vitamin C.' },
    { label: 'B', text: 'D) is not a label here' },
  ])
})

test.each([[['A) alone']], [['A)', 'B) Rome']], [['Paris', ' ']]])('%j are refused', (texts) => {
  expect(() => readOptions(texts)).toThrow(/option/i)
})
