import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pythonRound } from '../../python/float.ts'
import { isFloatWord } from '../../python/number-syntax.ts'
import { type PythonNumber, readTatqaNumber, ScorerOverflow, scaleFactor, times } from './tatqa-number.ts'

const read = (texts: string[]) => texts.map(readTatqaNumber)

test('integers and floats are distinguished', () => {
  expect(read(['2019', '2019.0', '$1,234', '-5', '+5', '007'])).toEqual([2019n, 2019, 1234n, -5n, 5n, 7n])
})

test('the value is the first run of digits, not what float() gives', () => {
  expect(read(['5e3', '1_000', '.5', '-.5', 'inf', '5.'])).toEqual([5n, 1n, null, null, null, 5n])
})

test('scale words, parentheses and percent signs multiply', () => {
  expect(read(['1 million', '2.5 Million', '3 hundredths', '12 percent', '1  million'])).toEqual([
    1000000n,
    2500000,
    300n,
    0.12,
    1n,
  ])
  expect(
    read(['(134)', '( 134 )', '(1,234)', '($134)', '-(5)', '(12.5)%', '(12.5%)', '12%', '12 %', ' %12']),
  ).toEqual([-134n, -134n, 1234n, 134n, 5n, -12.5, 0.125, 0.12, 0.12, 12n])
})

test('other texts are not numbers', () => {
  expect(read(['', ' ', '%', 'cat', '12 cats', '1 2', 'nan', '10k', 'million 5', '1-2'])).toEqual(
    Array(10).fill(undefined),
  )
})

test('digits of other scripts count; other numerals do not', () => {
  expect(read(['\u0663', '\uff11\uff12', '\u0663%', '\u00bd', '\u4e09'])).toEqual([
    3n,
    12n,
    0.03,
    undefined,
    undefined,
  ])
})

test('numbers beyond Python’s limit overflow', () => {
  expect(() => readTatqaNumber(`${'9'.repeat(309)}%`)).toThrow(ScorerOverflow)
  expect(() => readTatqaNumber('9'.repeat(4301))).toThrow(ScorerOverflow)
  expect(readTatqaNumber('9'.repeat(4300))).toBe(10n ** 4300n - 1n)
})

test('long runs of digits, parentheses and percent signs take linear time', () => {
  const length = 200_000
  for (const unit of ['1', '1.', '(', '(1', '% ', '1 ', '1a ', '+', '.', '\u0663'])
    for (const text of [unit.repeat(length), `1 ${unit.repeat(length)}`, `${unit.repeat(length)} million`])
      try {
        readTatqaNumber(text)
      } catch (error) {
        expect(error).toBeInstanceOf(ScorerOverflow)
      }
})

/** The slow twin: the rules as regular expressions. */
function slowly(text: string): PythonNumber | null | undefined {
  const bare = text.replace(/['"\\$€£¥%(),[\]]/g, '')
  const [first, second] = bare.split(/[ \t\n]+/).filter((word) => word !== '')
  if (first === undefined || !isFloatWord(first)) return undefined
  if (second !== undefined && scaleFactor(second) === 1) return undefined
  const match = /([+-]?\d+(\.\d+)?)|([+-]?\.\d+)/.exec(bare)
  if (match?.[1] === undefined) return null
  const value = match[2] === undefined ? BigInt(match[1].replace('+', '')) : Number(match[1])
  const word = /[\d.]+[ \t\n]?[a-zA-Z]+/.exec(text)
  const scaled = times(value, word === null ? 1 : scaleFactor(word[0]))
  const signed = times(scaled, /\([\d. \t\n]+\)/.test(text) ? -1 : 1)
  const result = times(signed, /[\d. \t\n]+%/.test(text.trim()) ? 0.01 : 1)
  return typeof result === 'bigint' ? result : pythonRound(result, 4)
}

test('agrees with the regular expressions', () => {
  const atoms = [...'0123456789..,,()()%%$-+ \t\n', 'million', 'percent', 'e', 'inf', '_', '1', '12.5', 'x']
  const text = fc.array(fc.constantFrom(...atoms), { maxLength: 9 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, (input) => {
      expect(readTatqaNumber(input)).toEqual(slowly(input))
    }),
    { numRuns: 20_000 },
  )
})
