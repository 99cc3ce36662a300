// How the official TAT-QA scorer reads a number from an answer's text. Written as scans instead of patterns: answers are
// hostile, and a pattern for "digits, then a word" takes quadratic time on a long run of digits.
import { pythonRound } from '../../python/float.ts'
import { intDigitLimit, isFloatWord } from '../../python/number-syntax.ts'
import { asciiDigits, isPythonSpace } from '../../python/text.ts'

/** Python's integers are bigints here, its floats numbers: 2019 and 2019.0 are different texts. */
export type PythonNumber = bigint | number

/** The official scorer raises an exception on this answer; the project scores it zero. */
export class ScorerOverflow extends Error {
  override readonly name = 'ScorerOverflow'
}

/** The value of a text that is a number, null if it is a number without a value (`.5`, `inf`), else undefined. */
export function readTatqaNumber(text: string): PythonNumber | null | undefined {
  if (plainNumber.test(text)) return readPlainNumber(text)
  if (!mayBeNumber(text)) return undefined
  const ascii = asciiDigits(text)
  if (!isNumber(ascii)) return undefined
  const value = firstNumber(ascii)
  if (value === null) return null
  return rounded(times(times(times(value, wordFactor(ascii)), signFactor(ascii)), percentFactor(ascii)))
}

/** Most numbers are of this form. With at most four decimals and eleven digits, rounding to four decimals changes nothing. */
const plainNumber = /^-?[0-9]{1,11}(?:\.[0-9]{1,4})?$/

function readPlainNumber(text: string): PythonNumber {
  return text.includes('.') ? Number(text) : BigInt(text)
}

/** Rules out most texts by their first character that is no ornament. */
function mayBeNumber(text: string): boolean {
  let start = 0
  while (start < text.length && isSkipped(text.charCodeAt(start))) start += 1
  const code = text.charCodeAt(start)
  return mayBeginFloat(code) || code > 0x7f // perhaps a digit of another script
}

/** The factor of the first scale name that a text contains, in any case. */
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

const isDigit = (code: number) => code >= 48 && code <= 57
const isLetter = (code: number) => (code | 32) >= 97 && (code | 32) <= 122
const isDigitOrDot = (code: number) => isDigit(code) || code === 46

/** Characters that are left out when a number is read. */
const ornaments = /['"\\$€£¥%(),[\]]/g
const ornamentCodes = new Uint8Array(0x20ad)
for (const character of '\'"\\$€£¥%(),[]') ornamentCodes[character.charCodeAt(0)] = 1

/** The first word must be a float; a second one must be a scale. Words without their ornaments, empty ones dropped. */
function isNumber(text: string): boolean {
  let start = 0
  while (start < text.length && isSkipped(text.charCodeAt(start))) start += 1
  if (start === text.length || !mayBeginFloat(text.charCodeAt(start))) return false
  let end = start
  while (end < text.length && !isPythonSpace(text.charCodeAt(end))) end += 1
  if (!isFloatWord(text.slice(start, end).replace(ornaments, ''))) return false
  while (end < text.length && isSkipped(text.charCodeAt(end))) end += 1
  if (end === text.length) return true
  start = end
  while (end < text.length && !isPythonSpace(text.charCodeAt(end))) end += 1
  return scaleFactor(text.slice(start, end).replace(ornaments, '')) !== 1
}

const isSkipped = (code: number) => isPythonSpace(code) || ornamentCodes[code] === 1

/** Digits, a sign, a dot, or the i of inf: rules out most words at once. */
function mayBeginFloat(code: number): boolean {
  return isDigit(code) || code === 43 || code === 45 || code === 46 || (code | 32) === 105
}

/** The first run of digits with its sign and decimals. A run that begins with its point hides what follows. */
function firstNumber(text: string): PythonNumber | null {
  const match = /([+-]?[0-9]+(\.[0-9]+)?)|[+-]?\.[0-9]/.exec(text.replace(ornaments, ''))
  if (match?.[1] === undefined) return null
  const digits = match[1]
  if (match[2] !== undefined) return Number(digits)
  // Python counts the digits only; a sign is one character more.
  if (digits.length > intDigitLimit + 1 || (digits.length > intDigitLimit && isDigit(digits.charCodeAt(0))))
    throw new ScorerOverflow('more digits than Python converts')
  return BigInt(digits.charCodeAt(0) === 43 ? digits.slice(1) : digits)
}

/** The scale in the first word that follows digits or dots, with at most one white space between. */
function wordFactor(text: string): number {
  for (let i = 0; i < text.length; i += 1) {
    if (!isDigitOrDot(text.charCodeAt(i))) continue
    while (i < text.length && isDigitOrDot(text.charCodeAt(i))) i += 1
    const start = isPythonSpace(text.charCodeAt(i)) ? i + 1 : i
    let end = start
    while (end < text.length && isLetter(text.charCodeAt(end))) end += 1
    if (end > start) return scaleFactor(text.slice(start, end))
  }
  return 1
}

/** Parentheses around digits, dots and white space alone mean a negative number. */
function signFactor(text: string): number {
  for (let open = text.indexOf('('); open !== -1; open = text.indexOf('(', open + 1)) {
    let end = open + 1
    while (end < text.length && (isDigitOrDot(text.charCodeAt(end)) || isPythonSpace(text.charCodeAt(end))))
      end += 1
    if (end > open + 1 && text.charCodeAt(end) === 41) return -1
  }
  return 1
}

/** A percent sign after a digit, dot or white space; white space at the very beginning does not count. */
function percentFactor(text: string): number {
  let first = -1
  for (let sign = text.indexOf('%'); sign !== -1; sign = text.indexOf('%', sign + 1)) {
    if (first === -1) for (first = 0; isPythonSpace(text.charCodeAt(first)); ) first += 1
    if (sign === first) continue
    const before = text.charCodeAt(sign - 1)
    if (isDigitOrDot(before) || isPythonSpace(before)) return 0.01
  }
  return 1
}
