import { isDeepStrictEqual } from 'node:util'

/** Where two values first differ; undefined if they are equal. */
export function difference(expected: unknown, actual: unknown, path = ''): string | undefined {
  if (isDeepStrictEqual(expected, actual)) return undefined
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length)
      return `${path || 'length'}: expected ${expected.length} entries, got ${actual.length}`
    const index = expected.findIndex((value, position) => !isDeepStrictEqual(value, actual[position]))
    return difference(expected[index], actual[index], `${path}[${index}]`)
  }
  return `${path === '' ? '' : `${path}: `}expected ${show(expected)}, got ${show(actual)}`
}

function show(value: unknown): string {
  return typeof value === 'bigint' ? `${value}` : (JSON.stringify(value) ?? 'nothing')
}
