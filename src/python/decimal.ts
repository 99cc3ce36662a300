// Numbers as Python's `Decimal` reads them from text, and their equality. Exact, at any length.
import { asciiDigits } from './text.ts'

/** A finite value is ±digits·10^exponent without trailing zeros in digits; zero has no digits. */
export type Decimal =
  | {
      readonly kind: 'finite'
      readonly negative: boolean
      readonly digits: string
      readonly exponent: bigint
    }
  | { readonly kind: 'infinite'; readonly negative: boolean }
  | { readonly kind: 'nan' }

// The limits of 64-bit libmpdec: beyond them Decimal() rejects the text.
const largestExponent = 999_999_999_999_999_999n
const smallestExponent = -1_999_999_999_999_999_997n

const finite = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:e([+-]?\d+))?$/i
const special = /^([+-]?)(?:(inf(?:inity)?)|s?nan\d*)$/i

/** Undefined for text that `Decimal` does not accept. */
export function parseDecimal(text: string): Decimal | undefined {
  // Python drops underscores anywhere, and accepts decimal digits of every script.
  const plain = asciiDigits(text).replaceAll('_', '')
  const number = finite.exec(plain)
  if (number !== null) {
    const [, sign, whole = '', decimals = '', onlyDecimals = '', exponentText = '0'] = number
    const fraction = decimals + onlyDecimals
    return finiteDecimal(sign === '-', whole + fraction, BigInt(exponentText) - BigInt(fraction.length))
  }
  const named = special.exec(plain)
  if (named === null) return undefined
  return named[2] === undefined ? { kind: 'nan' } : { kind: 'infinite', negative: named[1] === '-' }
}

function finiteDecimal(negative: boolean, allDigits: string, exponent: bigint): Decimal | undefined {
  const coefficient = allDigits.replace(/^0+/, '')
  const adjusted = exponent + BigInt(Math.max(coefficient.length - 1, 0))
  if (adjusted > largestExponent || exponent < smallestExponent) return undefined
  if (coefficient === '') return { kind: 'finite', negative: false, digits: '', exponent: 0n }
  const digits = withoutTrailingZeros(coefficient)
  return { kind: 'finite', negative, digits, exponent: exponent + BigInt(coefficient.length - digits.length) }
}

/** A loop, because a pattern for trailing zeros would try every zero of a long number. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}

export function equalDecimals(a: Decimal, b: Decimal): boolean {
  if (a.kind === 'finite' && b.kind === 'finite') {
    return a.negative === b.negative && a.digits === b.digits && a.exponent === b.exponent
  }
  return a.kind === 'infinite' && b.kind === 'infinite' && a.negative === b.negative
}

/** The exact value of a double: every one is a finite decimal. */
export function decimalOfFloat(value: number): Decimal {
  if (Number.isNaN(value)) return { kind: 'nan' }
  if (!Number.isFinite(value)) return { kind: 'infinite', negative: value < 0 }
  const { numerator, halvings } = dyadic(value)
  // n / 2^k = n·5^k / 10^k
  const scaled = (numerator < 0n ? -numerator : numerator) * 5n ** BigInt(halvings)
  return finiteDecimal(numerator < 0n, scaled.toString(), BigInt(-halvings))!
}

/** A finite double as numerator / 2^halvings, exactly. */
export function dyadic(value: number): { readonly numerator: bigint; readonly halvings: number } {
  let scaled = value
  let halvings = 0
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    halvings += 1
  }
  return { numerator: BigInt(scaled), halvings }
}
