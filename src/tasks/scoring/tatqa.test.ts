import { expect, test } from 'vitest'
import type { TatqaReference } from './reference.ts'
import { measureTatqa } from './tatqa.ts'

function gold(
  answers: string[],
  scale = '',
  answerType: TatqaReference['answerType'] = 'span',
): TatqaReference {
  return { kind: 'tatqa', answerType, answers, scale }
}

/** EM, F1 and scale match. */
function measures(reference: TatqaReference, values: string[], scale = reference.scale): number[] {
  const { em, f1, scale_em } = measureTatqa({ values, scale }, reference)
  return [em, f1, scale_em]
}

test('case, articles and ASCII punctuation do not matter', () => {
  expect(measures(gold(['The Board, of directors']), ['board of a Directors!'])).toEqual([1, 1, 1])
})

test('all spans are joined into one text, sorted by code point first', () => {
  const reference = gold(['apple', 'banana'], '', 'multi-span')
  expect(measures(reference, ['banana', 'apple'])).toEqual([1, 1, 1])
  // Upper case sorts first: the same words in another order.
  expect(measures(reference, ['apple', 'Banana'])).toEqual([0, 1, 1])
})

test('F1 is over sets of words, rounded as numpy does', () => {
  expect(measures(gold(['one two three']), ['one two two'])).toEqual([0, 0.8, 1])
  expect(measures(gold(['one two three']), ['four'])).toEqual([0, 0, 1])
  expect(measures(gold(['the']), ['a'])).toEqual([1, 1, 1])
  // Nothing predicted but something expected: precision one, recall zero.
  expect(measures(gold(['cat']), ['the'])).toEqual([0, 0, 1])
})

test('numbers are rounded to cents and scaled before comparing', () => {
  const million = gold(['1.005'], 'million', 'arithmetic')
  expect(measures(million, ['1.00'])).toEqual([1, 1, 1])
  expect(measures(million, ['1000000'], '')).toEqual([1, 1, 0])
  expect(measures(million, ['1.00'], 'thousand')).toEqual([0, 0, 0])
})

test('a fraction may stand for a percentage', () => {
  const percent = gold(['23.42'], 'percent', 'arithmetic')
  expect(measures(percent, ['0.2342'], '')).toEqual([1, 1, 0])
  expect(measures(percent, ['23.42%'])).toEqual([1, 1, 1])
  expect(measures(percent, ['0.2342', '1'], '')).toEqual([0, 0, 0])
})

test('arithmetic and count have no partial credit', () => {
  expect(measures(gold(['5'], '', 'count'), ['5 apples'])).toEqual([0, 0, 1])
  expect(measures(gold(['5'], '', 'span'), ['5 5'])).toEqual([0, 0, 1])
})

test('negative zero is not zero', () => {
  expect(measures(gold(['0.0'], '', 'arithmetic'), ['-0.001'])).toEqual([0, 0, 1])
})

test('word boundaries follow Unicode', () => {
  expect(measures(gold(['caf\u00e9']), ['caf\u00e9 \u2014the\u2014'])[1]).toBe(0.67)
  expect(measures(gold(['a\u00e9']), ['\u00e9'])).toEqual([0, 0, 1])
})

test('an answer of a million words is scored, whatever the separators', () => {
  for (const space of [' ', '\t', '\u00a0'])
    expect(measures(gold(['cat']), [`cat${space}dog`.concat(`${space}x`.repeat(1_000_000))])).toEqual([
      0, 0.5, 1,
    ])
})

test('answers that make the official scorer raise score zero', () => {
  const digits = '9'.repeat(400)
  expect(measures(gold([digits]), [digits])).toEqual([0, 0, 0])
  expect(measures(gold(['cat']), [])).toEqual([0, 0, 0])
})
