import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { numberTextReference } from '../benchmarks/gsm8k.ts'
import { booleanReference, choiceReference } from './exact-match.ts'
import { type AnswerReference, scoreAnswer } from './reference-scorer.ts'

const b: AnswerReference = { kind: 'choice', label: 'B' }
const yes: AnswerReference = { kind: 'boolean', value: true }
const thousand: AnswerReference = { kind: 'number-text', text: '1,000' }
const span: AnswerReference = { kind: 'tatqa', answerType: 'span', answers: ['the cat'], scale: '' }

/** 1 and 0 for a match and a mismatch, null for an invalid answer. */
function outcome(answer: unknown, reference: AnswerReference): number | null {
  const { score, parse } = scoreAnswer(answer, reference)
  if (parse === 'ok') return score
  expect(score).toBe(0)
  return null
}

const outcomes = (answers: unknown[], reference: AnswerReference) =>
  answers.map((answer) => outcome(answer, reference))

describe('a choice', () => {
  test('is one English letter in either case', () => {
    expect(outcomes(['B', 'b', ' b\n', 'A', 'Z'], b)).toEqual([1, 1, 1, 0, 0])
  })
  test('is nothing else', () => {
    const invalid = [
      '',
      'AB',
      'B.',
      '(B)',
      '1',
      '\uff22',
      '\u0412',
      'FINAL: B',
      1,
      null,
      ['B'],
      { answer: 'B' },
      true,
    ]
    expect(outcomes(invalid, b)).toEqual(invalid.map(() => null))
    // Kelvin sign, long s and dotless i convert to English letters but are not.
    expect(outcomes(['\u212a', '\u017f', '\u0131'], { kind: 'choice', label: 'K' })).toEqual([
      null,
      null,
      null,
    ])
  })
})

describe('a Boolean', () => {
  test('is the string true or false in any case', () => {
    expect(outcomes(['true', 'TRUE', ' tRuE ', 'false', 'False\n'], yes)).toEqual([1, 1, 1, 0, 0])
  })
  test('is nothing else', () => {
    const invalid = [true, false, 1, 'yes', 'entailed', '1', 't', 'true.', 'fal\u017fe', '"true"', '', null]
    expect(outcomes(invalid, yes)).toEqual(invalid.map(() => null))
  })
})

describe('a GSM8K number', () => {
  test('is compared as text without commas', () => {
    expect(outcomes(['1000', '1,000', ' 1,0,0,0 ', '1000.0', '01000', '-1000', '1000.'], thousand)).toEqual([
      1, 1, 1, 0, 0, 0, 0,
    ])
  })
  test('has only ASCII digits, points, commas and a minus', () => {
    const invalid = ['$1000', '1e3', '+1000', '1000 apples', '\uff11000', '\u22121000', '', 1000, null]
    expect(outcomes(invalid, thousand)).toEqual(invalid.map(() => null))
  })
})

test('TAT-QA answers outside the contract score zero unread', () => {
  const cat = { values: ['cat'], scale: '' }
  expect(scoreAnswer(cat, span)).toEqual({ score: 1, parse: 'ok', measures: { em: 1, f1: 1, scale_em: 1 } })
  const broken = [
    { ...cat, values: [] },
    { ...cat, values: 'cat' },
    { ...cat, scale: 'Million' },
    { values: ['cat'] },
  ]
  const invalid: unknown[] = [
    ...broken,
    { ...cat, values: ['cat', 1] },
    { ...cat, more: 1 },
    'cat',
    ['cat'],
    null,
  ]
  expect(outcomes(invalid, span)).toEqual(invalid.map(() => null))
})

test('no answer makes a scorer throw', () => {
  const references = fc.constantFrom(b, yes, thousand, span)
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.anything()), references, (answer, reference) => {
      const { score } = scoreAnswer(answer, reference)
      expect(score >= 0 && score <= 1).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

test('an index becomes a label, and a letter upper case', () => {
  expect([0, 9, 'e', 'B'].map((raw) => choiceReference(raw).label)).toEqual(['A', 'J', 'E', 'B'])
  expect(() => choiceReference(26)).toThrow(/No letter/)
})

test('all spellings of true and false are read', () => {
  const raws = [true, 'yes', 'Yes', 1, '1', 'entailed', false, 'NO', 0, '0', 'REFUTED', 'maybe', 2]
  expect(raws.map((raw) => booleanReference(raw)?.value)).toEqual([
    ...Array(6).fill(true),
    ...Array(5).fill(false),
    undefined,
    undefined,
  ])
})

test('takes the text after the last mark', () => {
  expect(numberTextReference('#### 1 ####\u00a02\n')?.text).toBe('2')
  expect(numberTextReference('2')).toBe(undefined)
})
