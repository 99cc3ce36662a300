// Tagged plain data, as written by `sandbox/python/plain_data.py`: what a program returned, without its objects.

export type PlainValue =
  | { readonly kind: 'none' }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'complex'; readonly real: number; readonly imaginary: number }
  | { readonly kind: 'str'; readonly value: string }
  | { readonly kind: 'bytes'; readonly hex: string }
  | { readonly kind: 'decimal'; readonly text: string }
  | { readonly kind: 'fraction'; readonly numerator: bigint; readonly denominator: bigint }
  | { readonly kind: 'list' | 'tuple' | 'set' | 'frozenset'; readonly items: readonly PlainValue[] }
  | { readonly kind: 'dict'; readonly entries: ReadonlyArray<readonly [PlainValue, PlainValue]> }
  /** Anything else; equal to nothing. */
  | { readonly kind: 'opaque'; readonly type: string }

const deepest = 101
const collections = { l: 'list', t: 'tuple', s: 'set', z: 'frozenset' } as const
const hexInteger = /^-?0x[0-9a-f]+$/
/** Far beyond any expected value (Python itself reads no integer of more than 4300 digits), and still quick to compare. */
const longestNumber = 100_000
const largeNumbers: Readonly<Record<string, string>> = { i: 'int', D: 'Decimal', F: 'Fraction' }
const floatText = /^-?(?:\d[\d.e+-]*|inf|nan)$/

/** Undefined if it is not tagged plain data; the program may have bypassed our encoder. */
export function decodePlain(tagged: unknown, depth = 0): PlainValue | undefined {
  if (tagged === null) return { kind: 'none' }
  if (typeof tagged === 'boolean') return { kind: 'bool', value: tagged }
  if (typeof tagged === 'string') return { kind: 'str', value: tagged }
  if (typeof tagged === 'number') {
    return Number.isSafeInteger(tagged) ? { kind: 'int', value: BigInt(tagged) } : undefined
  }
  if (!Array.isArray(tagged) || typeof tagged[0] !== 'string' || depth > deepest) return undefined
  const [tag, ...rest] = tagged as [string, ...unknown[]]
  if (tag !== 'd' && !(tag in collections))
    return rest.every((part) => typeof part === 'string') ? decodeScalar(tag, rest) : undefined
  const items: PlainValue[] = []
  for (const part of rest) {
    const item = decodePlain(part, depth + 1)
    if (item === undefined) return undefined
    items.push(item)
  }
  if (tag !== 'd') return { kind: collections[tag as keyof typeof collections], items }
  if (items.length % 2 !== 0) return undefined
  const keys = items.filter((_, index) => index % 2 === 0)
  return { kind: 'dict', entries: keys.map((key, index) => [key, items[2 * index + 1]!]) }
}

function decodeScalar(
  tag: string,
  [first = '', second = '', ...more]: readonly string[],
): PlainValue | undefined {
  if (more.length > 0) return undefined
  if (tag in largeNumbers && Math.max(first.length, second.length) > longestNumber)
    return { kind: 'opaque', type: `very large ${largeNumbers[tag]}` }
  switch (tag) {
    case 'i':
      return hexInteger.test(first) ? { kind: 'int', value: integer(first) } : undefined
    case 'f':
      return floatText.test(first) ? { kind: 'float', value: float(first) } : undefined
    case 'c':
      if (!floatText.test(first) || !floatText.test(second)) return undefined
      return { kind: 'complex', real: float(first), imaginary: float(second) }
    case 'b':
      return /^(?:[0-9a-f]{2})*$/.test(first) ? { kind: 'bytes', hex: first } : undefined
    case 'D':
      return { kind: 'decimal', text: first }
    case 'F':
      if (!hexInteger.test(first) || !hexInteger.test(second) || integer(second) <= 0n) return undefined
      return { kind: 'fraction', numerator: integer(first), denominator: integer(second) }
    case 'o':
      return { kind: 'opaque', type: first }
    default:
      return undefined
  }
}

function integer(hex: string): bigint {
  return hex.startsWith('-') ? -BigInt(hex.slice(1)) : BigInt(hex)
}

function float(text: string): number {
  return Number(text.replace('inf', 'Infinity'))
}
