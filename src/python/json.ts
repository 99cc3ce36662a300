// JSON as Python's `json.loads` reads it: integers are exact, 1.0 is not 1, and NaN and Infinity are numbers.
import type { PlainValue } from './plain-value.ts'

/** The kinds of value that JSON can hold. */
export type PythonJson =
  | Extract<PlainValue, { kind: 'none' | 'bool' | 'int' | 'float' | 'str' }>
  | { readonly kind: 'list'; readonly items: readonly PythonJson[] }
  | { readonly kind: 'dict'; readonly entries: ReadonlyMap<string, PythonJson> }

const deepest = 900
// A string that does not end goes on to the end of the text, so that it is looked through only once.
const token = /"(?:[^"\\]+|\\.?)*"?|NaN|-?Infinity|[[\]{}]/gs

/** Returns undefined for text that is not JSON in Python's sense. */
export function parsePythonJson(text: string): PythonJson | undefined {
  try {
    // The reviver's third argument (the source text) is newer than TypeScript's library types.
    return JSON.parse(standardJson(text), tagged as (key: string, value: unknown) => unknown)
  } catch {
    return undefined
  }
}

/** The same without Python's constants. Throws where it is nested too deeply. */
function standardJson(text: string): string {
  let depth = 0
  // Spaces keep a constant apart from what stands next to it: `-NaN` and `1NaN` are not JSON.
  return text.replace(token, (found) => {
    if (found === '[' || found === '{') depth += 1
    else if (found === ']' || found === '}') depth -= 1
    else if (found === 'NaN') return ` ${notANumber} `
    else if (found.endsWith('Infinity')) return ` ${found.replace('Infinity', '1e999')} `
    if (depth > deepest) throw new RangeError('nested too deeply')
    return found
  })
}

/** Stands for NaN: zero, in a spelling that real files do not use. */
const notANumber = '0.000e-000000'

/** Called for inner values first, so that those of lists and objects are tagged already. */
function tagged(_key: string, value: unknown, { source }: { source?: string }): PythonJson {
  if (value === null) return { kind: 'none' }
  if (typeof value === 'boolean') return { kind: 'bool', value }
  if (typeof value === 'string') return { kind: 'str', value }
  if (Array.isArray(value)) return { kind: 'list', items: value }
  if (typeof value === 'object') return { kind: 'dict', entries: new Map(Object.entries(value)) }
  if (/^-?\d+$/.test(source!)) return { kind: 'int', value: BigInt(source!) }
  return { kind: 'float', value: source === notANumber ? Number.NaN : (value as number) }
}
