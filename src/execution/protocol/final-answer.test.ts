import { expect, test } from 'vitest'
import { codeString, valuesAndScale } from '../../library/answer-contract.ts'
import { wrapFinal } from './final-answer.ts'

test('a string is unchanged; an object becomes JSON with its keys in order', () => {
  expect(wrapFinal('A', codeString)).toBe('FINAL: A')
  expect(wrapFinal({ values: ['1'], scale: '' }, valuesAndScale)).toBe('FINAL: {"scale":"","values":["1"]}')
  expect(wrapFinal({ scale: '', values: ['1'] }, valuesAndScale)).toBe('FINAL: {"scale":"","values":["1"]}')
})
