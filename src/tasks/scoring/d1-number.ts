import { type Decimal, parseDecimal } from '../../python/decimal.ts'
import { pythonStrip } from '../../python/text.ts'

/** A number as D1 reads it, with the scale of its suffix ('' if there is none). */
export interface ScaledNumber {
  readonly value: Decimal
  readonly scale: string
}

const suffixes = ['%', 'percent', 'thousand', 'million', 'billion']

// Sign and currency in either order; a source may leave a space after the currency.
const leading = /^(?:(-)(?:[$€£¥]\s*)?|[$€£¥]\s*(-)?)?/
/** Longer texts are not numbers: nothing measured has so many digits, and rounding takes quadratic time. */
const lengthLimit = 4300

const digits = /^(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]+)?$/

/** Reads a whole text as one number with at most one suffix. Undefined for anything else. */
export function readD1Number(text: string): ScaledNumber | undefined {
  const trimmed = pythonStrip(text)
  const lower = trimmed.toLowerCase()
  const suffix = suffixes.find((ending) => lower.endsWith(ending)) ?? ''
  const value = readValue(pythonStrip(trimmed.slice(0, trimmed.length - suffix.length)))
  return value === undefined ? undefined : { value, scale: suffix === '%' ? 'percent' : suffix }
}

function readValue(text: string): Decimal | undefined {
  const inParentheses = /^(?:[$€£¥]\s*)?\((.*)\)$/s.exec(text)?.[1]
  const [head, before, after] = leading.exec(text)!
  // A currency sign may be before or inside the parentheses.
  const inner = text.startsWith('(') ? inParentheses?.replace(/^[$€£¥]\s*/, '') : inParentheses
  const bare = inner ?? text.slice(head.length)
  if (bare.length > lengthLimit || !digits.test(bare)) return undefined
  const sign = inner === undefined ? (before ?? after ?? '') : '-'
  return parseDecimal(sign + bare.replaceAll(',', ''))
}

/** In hundredths, ties to even. */
export function roundToCents(decimal: Decimal): bigint | undefined {
  if (decimal.kind !== 'finite') return undefined
  const shift = Number(decimal.exponent) + 2
  const magnitude =
    shift >= 0 ? BigInt(decimal.digits) * 10n ** BigInt(shift) : roundedQuotient(decimal.digits, -shift)
  return decimal.negative ? -magnitude : magnitude
}

/** digits / 10^places */
function roundedQuotient(digits: string, places: number): bigint {
  const unit = 10n ** BigInt(places)
  const quotient = BigInt(digits) / unit
  const twice = (BigInt(digits) % unit) * 2n
  const up = twice > unit || (twice === unit && (quotient & 1n) === 1n)
  return up ? quotient + 1n : quotient
}
