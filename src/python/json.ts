// JSON as Python's `json.loads` reads it: integers are exact, 1.0 is not 1, and NaN and Infinity are numbers.
import type { PlainValue } from './plain-value.ts'

const deepest = 901
/** Strings are matched as a whole, even unterminated ones, so that no text is scanned twice. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"?|NaN|-?Infinity|[[\]{}]/gs
/** Stands for NaN, which JSON numbers cannot express; nobody writes zero like this. */
const nan = '-0e-31415926535897'

/** The third argument, with the source text, is newer than TypeScript's library types. */
type Reviver = (key: string, value: unknown) => unknown

/** Undefined for text that is not JSON according to Python. */
export function parsePythonJson(text: string): PlainValue | undefined {
  try {
    return JSON.parse(standardJson(text), tagged as Reviver)
  } catch {
    return undefined
  }
}

/** Spaces keep the constants from merging with their neighbours. */
function standardJson(text: string): string {
  let depth = 0
  return text.replace(tokens, (token) => {
    if (token === '[' || token === '{') depth += 1
    if (token === ']' || token === '}') depth -= 1
    if (depth > deepest) throw new RangeError('nested too deep')
    if (token === 'NaN') return ` ${nan} `
    return token.endsWith('Infinity') ? ` ${token.replace('Infinity', '1e999')} ` : token
  })
}

function tagged(_key: string, value: unknown, { source }: { source: string }): PlainValue {
  if (value === null) return { kind: 'none' }
  if (Array.isArray(value)) return { kind: 'list', items: value }
  switch (typeof value) {
    case 'boolean':
      return { kind: 'bool', value }
    case 'string':
      return { kind: 'str', value }
    case 'number':
      if (/^-?\d+$/.test(source)) return { kind: 'int', value: BigInt(source) }
      return { kind: 'float', value: source === nan ? Number.NaN : value }
    default:
      return {
        kind: 'dict',
        entries: Object.entries(value!).map(([key, item]) => [{ kind: 'str', value: key }, item]),
      }
  }
}
