import { invalidAnswer, matched, type Score } from '../../library/score.ts'
import { type Decimal, parseDecimal } from '../../python/decimal.ts'
import { pythonStrip } from '../../python/text.ts'
import type { NumberReference } from './reference.ts'

type Finite = Extract<Decimal, { kind: 'finite' }>

/** Longer texts are not numbers: nothing measured has so many digits, and comparing takes quadratic time. */
const lengthLimit = 4300
const syntax = /^-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]+)?$/

/**
 * For a user's questions: compared as decimals, so 42, 42.0 and 042 are the same number, and so are 1,000 and 1000;
 * `$5` is not a number.
 */
export function scoreNumber(answer: unknown, { number, tolerance }: NumberReference): Score {
  const given = typeof answer === 'string' ? readNumber(answer) : undefined
  const expected = readNumber(number)
  if (expected === undefined) throw new RangeError(`The expected answer '${number}' is not a number.`)
  return given === undefined ? invalidAnswer : matched(isWithin(given, expected, tolerance))
}

/** Reads a decimal number: digits with an optional minus, decimals and thousands separators; no exponent, no unit. */
export function readNumber(text: string): Finite | undefined {
  const trimmed = pythonStrip(text)
  if (trimmed.length > lengthLimit || !syntax.test(trimmed) || !/[0-9]/.test(trimmed)) return undefined
  const decimal = parseDecimal(trimmed.replaceAll(',', ''))
  return decimal?.kind === 'finite' ? decimal : undefined
}

/** |given - expected| ≤ tolerance·|expected|, computed exactly: with doubles, rounding (0.1 + 0.2) would decide. */
function isWithin(given: Finite, expected: Finite, tolerance: number): boolean {
  const share = parseDecimal(String(tolerance))
  if (share?.kind !== 'finite' || share.negative)
    throw new RangeError(`The tolerance is ${tolerance}; it must be 0 or more.`)
  const unit = BigInt(Math.min(Number(given.exponent), Number(expected.exponent)))
  const exact = inUnits(expected, unit)
  const allowed = magnitude(exact) * BigInt(share.digits === '' ? 0 : share.digits)
  const distance = magnitude(inUnits(given, unit) - exact)
  // The tolerance's power of ten goes to whichever side keeps integers.
  return share.exponent >= 0n
    ? distance <= allowed * 10n ** share.exponent
    : distance * 10n ** -share.exponent <= allowed
}

/** A value as a multiple of `10^unit`, which divides it. */
function inUnits({ negative, digits, exponent }: Finite, unit: bigint): bigint {
  if (digits === '') return 0n
  const size = BigInt(digits) * 10n ** (exponent - unit)
  return negative ? -size : size
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}
