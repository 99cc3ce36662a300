import { describe, expect, test } from 'vitest'
import type { TatqaReference } from '../scoring/reference.ts'
import { tatqa } from './tatqa.ts'

const { scorer, contract } = tatqa.d1!

const references: [TatqaReference, solution: string][] = [
  [{ kind: 'tatqa', answerType: 'arithmetic', answers: ['15.637'], scale: 'percent' }, '15.637 percent'],
  [{ kind: 'tatqa', answerType: 'count', answers: ['3'], scale: '' }, '3'],
  [{ kind: 'tatqa', answerType: 'span', answers: ['$1,250'], scale: 'thousand' }, '$1,250 thousand'],
  [{ kind: 'tatqa', answerType: 'span', answers: ['Net sales'], scale: 'million' }, 'Net sales'],
  [{ kind: 'tatqa', answerType: 'multi-span', answers: ['2019', '2018'], scale: '' }, '2019; 2018'],
]

describe.each(references)('%j', (reference, solution) => {
  test('has a one-line solution that scores 1', async () => {
    expect(scorer.solution!(reference)).toEqual({ answer: solution })
    expect(await scorer.score(solution, reference, {})).toEqual({ score: 1, parse: 'ok' })
    expect(contract.check(solution).verdict).toBe('fits')
  })
  test('another line is wrong, anything else is invalid', async () => {
    expect(await scorer.score('17 goats', reference, {})).toEqual({ score: 0, parse: 'ok' })
    for (const answer of ['', 'one\ntwo', 'FINAL: 3', 3, null, { values: ['3'], scale: '' }])
      expect(await scorer.score(answer, reference, {})).toEqual({ score: 0, parse: 'invalid' })
  })
})

test('the contract accepts one non-blank line', () => {
  for (const answer of ['', '  ', 'one\ntwo']) expect(contract.check(answer).verdict).toBe('outside')
})

test('there is no solution if no single line is right', () => {
  const reference = { kind: 'tatqa', answerType: 'multi-span', answers: ['one', ''], scale: '' } as const
  expect(scorer.solution!(reference)).toBeUndefined()
})
