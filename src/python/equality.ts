import { decimalOfFloat, dyadic, equalDecimals, parseDecimal } from './decimal.ts'
import type { PlainValue } from './plain-value.ts'

/** Python's `actual == expected`, for an expected value read from JSON. */
export function equalsExpected(actual: PlainValue, expected: PlainValue): boolean {
  switch (expected.kind) {
    case 'none':
      return actual.kind === 'none'
    case 'str':
      return actual.kind === 'str' && actual.value === expected.value
    case 'bool':
      return equalsReal(actual, BigInt(expected.value))
    case 'int':
    case 'float':
      return equalsReal(actual, expected.value)
    case 'list':
      return (
        actual.kind === 'list' &&
        actual.items.length === expected.items.length &&
        actual.items.every((item, index) => equalsExpected(item, expected.items[index]!))
      )
    case 'dict':
      return actual.kind === 'dict' && equalsDict(actual.entries, expected.entries)
    default:
      return false
  }
}

type Entries = ReadonlyArray<readonly [PlainValue, PlainValue]>

function equalsDict(actual: Entries, expected: Entries): boolean {
  // A duplicate key is not found the second time.
  const missing = new Map(expected.map(([key, value]) => [(key as { value: string }).value, value]))
  for (const [key, value] of actual) {
    const wanted = key.kind === 'str' ? missing.get(key.value) : undefined
    if (wanted === undefined || !equalsExpected(value, wanted)) return false
    missing.delete((key as { value: string }).value)
  }
  return missing.size === 0
}

/** Numbers of all types are equal if their exact values are. */
function equalsReal(actual: PlainValue, expected: bigint | number): boolean {
  switch (actual.kind) {
    case 'bool':
      return equalsNumber(BigInt(actual.value), expected)
    case 'int':
    case 'float':
      return equalsNumber(actual.value, expected)
    case 'complex':
      return actual.imaginary === 0 && equalsNumber(actual.real, expected)
    case 'decimal': {
      const decimal = parseDecimal(actual.text)
      const wanted = typeof expected === 'bigint' ? parseDecimal(`${expected}`)! : decimalOfFloat(expected)
      return decimal !== undefined && equalDecimals(decimal, wanted)
    }
    case 'fraction': {
      if (typeof expected === 'bigint') return actual.denominator === 1n && actual.numerator === expected
      if (!Number.isFinite(expected)) return false
      const { numerator, halvings } = dyadic(expected)
      return actual.numerator << BigInt(halvings) === numerator * actual.denominator
    }
    default:
      return false
  }
}

/** JavaScript compares an integer with a double exactly. */
function equalsNumber(a: bigint | number, b: bigint | number): boolean {
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint is never === a number
  return a == b
}
