// How the official TAT-QA scorer reads a number from an answer's text. Answers may be hostile: every pattern here
// takes linear time, even on a long run of digits.
import { pythonRound } from '../../python/float.ts'
import { intDigitLimit, isFloatWord } from '../../python/number-syntax.ts'
import { asciiDigits, pythonSplit, pythonStrip } from '../../python/text.ts'

/** Python's integers are bigints here, its floats numbers: 2019 and 2019.0 are different texts. */
export type PythonNumber = bigint | number

/** The official scorer raises an exception on this answer; we score it zero. */
export class ScorerOverflow extends Error {
  override readonly name = 'ScorerOverflow'
}

/** The value of a number, null for a number without a value (`.5`, `inf`), undefined for other text. */
export function readTatqaNumber(text: string): PythonNumber | null | undefined {
  if (plainNumber.test(text)) return readPlainNumber(text)
  if (!likelyNumber.test(text)) return undefined
  const ascii = asciiDigits(text)
  const bare = ascii.replace(ornaments, '')
  if (!isNumber(bare)) return undefined
  const value = firstNumber(bare)
  if (value === null) return null
  return rounded(times(times(times(value, wordFactor(ascii)), signFactor(ascii)), percentFactor(ascii)))
}

/** Most numbers look like this. With at most four decimals and eleven digits, rounding to four decimals changes nothing. */
const plainNumber = /^-?[0-9]{1,11}(?:\.[0-9]{1,4})?$/

function readPlainNumber(text: string): PythonNumber {
  return text.includes('.') ? Number(text) : BigInt(text)
}

// Python's white space.
const space = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
/** Characters ignored when reading a number. */
const ornaments = /['"\\$€£¥%(),[\]]/g
/**
 * Rules out most texts by their first character that is not an ornament: a sign, a digit of any script, a dot, or the
 * i of inf.
 */
const likelyNumber = new RegExp(`^[${space}'"\\\\$€£¥%(),[\\]]*[-+.0-9iI\\u0080-\\uffff]`)

/** The factor of the first scale name in a text, in any case. */
export function scaleFactor(text: string): number {
  const lower = text.toLowerCase()
  if (lower.includes('hundred')) return 100
  if (lower.includes('thousand')) return 1000
  if (lower.includes('million')) return 1e6
  if (lower.includes('billion')) return 1e9
  return lower.includes('percent') ? 0.01 : 1
}

/** Python's product: integers stay integers unless a factor is a fraction. */
export function times(value: PythonNumber, factor: number): PythonNumber {
  if (factor === 1) return value
  if (typeof value === 'number') return value * factor
  return Number.isInteger(factor) ? value * BigInt(factor) : toFloat(value) * factor
}

export function toFloat(value: PythonNumber): number {
  const float = Number(value)
  if (typeof value === 'bigint' && !Number.isFinite(float))
    throw new ScorerOverflow('integer beyond the floats')
  return float
}

function rounded(value: PythonNumber): PythonNumber {
  return typeof value === 'bigint' ? value : pythonRound(value, 4)
}

/** The first word must be a float; the second, if any, a scale. */
function isNumber(bare: string): boolean {
  const [first, second] = pythonSplit(bare)
  if (first === undefined || !isFloatWord(first)) return false
  return second === undefined || scaleFactor(second) !== 1
}

/** The first run of digits with sign and decimals. A run that starts with a decimal point hides what follows. */
function firstNumber(bare: string): PythonNumber | null {
  const match = /([+-]?[0-9]+(\.[0-9]+)?)|[+-]?\.[0-9]/.exec(bare)
  if (match?.[1] === undefined) return null
  const digits = match[1]
  if (match[2] !== undefined) return Number(digits)
  // Python counts only the digits, not the sign.
  if (digits.replace(/^[+-]/, '').length > intDigitLimit)
    throw new ScorerOverflow('more digits than Python converts')
  return BigInt(digits.replace(/^\+/, ''))
}

/** The scale in the first word after digits or dots, with at most one white space in between. */
function wordFactor(text: string): number {
  const word = wordAfterDigits.exec(text)
  return word === null ? 1 : scaleFactor(word[1]!)
}

// Only from the start of a run of digits: starting at each digit would take quadratic time.
const wordAfterDigits = new RegExp(`(?<![0-9.])[0-9.]+[${space}]?([A-Za-z]+)`)

/** Parentheses around only digits, dots and white space mean a negative number. */
function signFactor(text: string): number {
  return inParentheses.test(text) ? -1 : 1
}

const inParentheses = new RegExp(`\\([0-9.${space}]+\\)`)

/** A percent sign after a digit, dot or white space, except leading white space. */
function percentFactor(text: string): number {
  return text.includes('%') && percentSign.test(pythonStrip(text)) ? 0.01 : 1
}

const percentSign = new RegExp(`[0-9.${space}]%`)
