import { expect, test } from 'vitest'
import { readOptions } from './given-options.ts'

test.each([
  [['A) Paris', 'B) Rome']],
  [['A) Paris B) Rome']],
  [['A. Paris\nB. Rome']],
  [['(A) Paris (B) Rome']],
  [['Paris', 'Rome']],
])('%j are two options', (texts) => {
  expect(readOptions(texts)).toEqual([
    { label: 'A', text: 'Paris' },
    { label: 'B', text: 'Rome' },
  ])
})

test('a letter that is not the next label is text', () => {
  expect(readOptions(['A) vitamin C. B) vitamin D) C) none'])).toEqual([
    { label: 'A', text: 'vitamin C.' },
    { label: 'B', text: 'vitamin D)' },
    { label: 'C', text: 'none' },
  ])
})

test.each([[['A) alone']], [['A) B) Rome']], [['Paris', ' ']]])('%j are refused', (texts) => {
  expect(() => readOptions(texts)).toThrow(/option/)
})
