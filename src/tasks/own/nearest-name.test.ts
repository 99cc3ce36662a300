import { expect, test } from 'vitest'
import { didYouMean } from './nearest-name.ts'

const names = ['question', 'answer', 'options', 'id', 'publicTests']

test.each([
  ['qestion', 'question'],
  ['Answer', 'answer'],
  ['option', 'options'],
  ['asnwer', 'answer'],
  ['public_tests', 'publicTests'],
  ['di', 'id'],
])('%s suggests %s', (given, expected) => {
  expect(didYouMean(given, names)).toBe(` Did you mean '${expected}'?`)
})

test.each([['gold'], ['explanation'], [''], ['x'.repeat(1000)]])('%s suggests nothing', (given) => {
  expect(didYouMean(given, names)).toBe('')
})
