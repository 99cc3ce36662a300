import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readD1Number, roundToCents } from './d1-number.ts'
import { scoreD1Tatqa } from './d1-tatqa.ts'
import type { TatqaReference } from './reference.ts'

function gold(answerType: TatqaReference['answerType'], answers: string[], scale = ''): TatqaReference {
  return { kind: 'tatqa', answerType, answers, scale }
}

const right = (reference: TatqaReference, answer: string) =>
  scoreD1Tatqa(`Some reasoning.\nFINAL: ${answer}`, reference, []).correct

describe('the FINAL marker', () => {
  const cat = gold('span', ['cat'])
  test.each([
    ['FINAL: cat', 'cat'],
    ['Reasons.\nFINAL:  cat \n\n', 'cat'],
    ['cat', null],
    ['final: cat', null],
    ['FINAL: cat\nmore', null],
    ['FINAL: cat FINAL: cat', null],
    ['FINAL:\n', null],
  ])('%j', (response, extracted) => {
    expect(scoreD1Tatqa(response, cat, [])).toEqual({
      extracted,
      scoreCorrect: extracted !== null,
      correct: extracted !== null,
    })
  })
  test('a failed execution makes a right answer wrong', () => {
    expect(scoreD1Tatqa('FINAL: cat', cat, ['timeout'])).toMatchObject({ scoreCorrect: true, correct: false })
  })
})

describe('numbers', () => {
  const cents = (text: string) => {
    const number = readD1Number(text)
    return number === undefined ? undefined : [roundToCents(number.value), number.scale]
  }
  test('syntax', () => {
    expect(cents('1,234.5')).toEqual([123450n, ''])
    expect(cents('.5 %')).toEqual([50n, 'percent'])
    expect(cents('-$5 Million')).toEqual([-500n, 'million'])
    expect(cents('$-5')).toEqual([-500n, ''])
    expect(cents('$ 5')).toEqual([500n, ''])
    expect(cents('(\u20ac1,000) thousand')).toEqual([-100000n, 'thousand'])
    expect(cents('\u00a3(2)billion')).toEqual([-200n, 'billion'])
  })
  test('anything else is not a number', () => {
    const texts = [
      '',
      '.',
      '-',
      '5.',
      '1e3',
      '+5',
      '1,23',
      '12,34,567',
      'NaN',
      'Infinity',
      'abc',
      '5 5',
      '5%%',
    ]
    texts.push('5 millions', 'five', '$', '()', '$($5)', '(5', '5)', '\u0665', '5 million million')
    expect(texts.filter((text) => cents(text) !== undefined)).toEqual([])
  })
  test('ties round to even in decimal, not binary', () => {
    expect(['1.005', '1.015', '2.675', '-0.125', '0.004999'].map((text) => cents(text)?.[0])).toEqual([
      100n,
      102n,
      268n,
      -12n,
      0n,
    ])
  })
  test('a million digits are refused, not computed', () => {
    expect(cents('9'.repeat(1_000_000))).toBe(undefined)
  })
})

test('arithmetic is compared to the cent with its scale, counts exactly', () => {
  const percent = gold('arithmetic', ['12.345'], 'percent')
  expect(
    ['12.34%', '12.344 percent', '12.35%', '12.34', '12.34 million'].map((a) => right(percent, a)),
  ).toEqual([true, true, false, false, false])
  expect(right(gold('arithmetic', ['1e-05']), '0')).toBe(true)
  const count = gold('count', ['2'])
  expect(['2', '2.00', '2.001', 'two', '2 million'].map((a) => right(count, a))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
})

test('a numeric span is compared as a number', () => {
  expect(right(gold('span', ['$1,000']), '1000.00')).toBe(true)
  expect(right(gold('span', ['$417 million']), '417 million')).toBe(true)
  expect(right(gold('span', ['$417 million']), '417')).toBe(false)
  expect(right(gold('span', ['2019']), 'in 2019')).toBe(false)
  expect(right(gold('span', ['33'], 'thousand'), '33 thousand')).toBe(true)
})

test('text is compared after NFKC, case folding, and trimming spaces and punctuation', () => {
  const text = gold('span', ['The \u201cStra\u00dfe\u201d  AG.'])
  expect(
    ['the \u201cSTRASSE\u201d ag', '"the \u201cstrasse\u201d ag"!', 'the strasse ag'].map((a) =>
      right(text, a),
    ),
  ).toEqual([true, true, false])
  expect(right(gold('span', ['\ufb01nance 10\u00a0units']), 'FINANCE 10 units')).toBe(true)
  expect(right(gold('span', ['\u039f\u03a3']), '\u03bf\u03c2')).toBe(true)
  expect(right(gold('span', ['\u0131n']), 'in')).toBe(false)
})

test('several spans are compared as multisets', () => {
  const letters = gold('multi-span', ['A', 'B', 'B'])
  expect(['b; a; b', 'a; b', 'a; b; b; b', ' ;A;;B;B;'].map((a) => right(letters, a))).toEqual([
    true,
    false,
    false,
    true,
  ])
  const numbers = gold('multi-span', ['(43)', 'none'], 'thousand')
  expect(['none; -43 thousand', 'none; -43', 'none; 43 thousand'].map((a) => right(numbers, a))).toEqual([
    true,
    false,
    false,
  ])
})

test('span order does not matter', () => {
  const span = fc.stringMatching(/^[a-z0-9$%,. ]{1,8}$/).filter((text) => /[a-z0-9]/.test(text))
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 6 }), fc.nat(), (spans, turn) => {
      const turned = spans.map((_, index) => spans[(index + turn) % spans.length]!)
      expect(right(gold('multi-span', spans), turned.join('; '))).toBe(true)
    }),
  )
})
