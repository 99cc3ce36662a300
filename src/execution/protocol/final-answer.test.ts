import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { codeString, schemaContract, valuesAndScale } from '../../library/answer-contract.ts'
import type { JsonValue } from '../../library/json-value.ts'
import { unwrapFinal, wrapFinal } from './final-answer.ts'

test('a string stays as it is, an object becomes JSON with its keys in order', () => {
  expect(wrapFinal('A', codeString)).toBe('FINAL: A')
  expect(wrapFinal({ values: ['1'], scale: '' }, valuesAndScale)).toBe('FINAL: {"scale":"","values":["1"]}')
  expect(wrapFinal({ scale: '', values: ['1'] }, valuesAndScale)).toBe('FINAL: {"scale":"","values":["1"]}')
})

test('unwrapping gives back the answer', () => {
  const any = schemaContract({ name: 'any', requirement: 'Any JSON.', example: 1, schema: z.any() })
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(unwrapFinal(wrapFinal(text, codeString), codeString)).toBe(text)
    }),
  )
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (json) => {
      const answer = JSON.parse(JSON.stringify(json)) as JsonValue
      expect(unwrapFinal(wrapFinal(answer, any), any)).toEqual(answer)
    }),
  )
})

test('only a wrapped answer is unwrapped', () => {
  expect(() => unwrapFinal('42', codeString)).toThrow("starts with 'FINAL: '")
})
