// JSON as Python's `json.loads` reads it: integers are exact, 1.0 is not 1, and NaN and Infinity are numbers.
import type { PlainValue } from './plain-value.ts'

/** The kinds of value that JSON can hold. */
export type PythonJson =
  | Extract<PlainValue, { kind: 'none' | 'bool' | 'int' | 'float' | 'str' }>
  | { readonly kind: 'list'; readonly items: readonly PythonJson[] }
  | { readonly kind: 'dict'; readonly entries: ReadonlyMap<string, PythonJson> }

const deepest = 900
const number = /(-?(?:0|[1-9]\d*))(\.\d+)?([eE][+-]?\d+)?/y
const constants: ReadonlyArray<readonly [string, PythonJson]> = [
  ['null', { kind: 'none' }],
  ['true', { kind: 'bool', value: true }],
  ['false', { kind: 'bool', value: false }],
  ['NaN', { kind: 'float', value: Number.NaN }],
  ['Infinity', { kind: 'float', value: Number.POSITIVE_INFINITY }],
  ['-Infinity', { kind: 'float', value: Number.NEGATIVE_INFINITY }],
]

/** Returns undefined for text that is not JSON in Python's sense. */
export function parsePythonJson(text: string): PythonJson | undefined {
  const reader = new Reader(text)
  const value = reader.value(0)
  reader.skipSpace()
  return value !== undefined && reader.atEnd() ? value : undefined
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  atEnd(): boolean {
    return this.#at === this.#text.length
  }

  skipSpace(): void {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? 'x')) this.#at += 1
  }

  value(depth: number): PythonJson | undefined {
    this.skipSpace()
    if (depth > deepest) return undefined
    const next = this.#text[this.#at]
    if (next === '[') return this.#list(depth)
    if (next === '{') return this.#dict(depth)
    if (next === '"') {
      const value = this.#string()
      return value === undefined ? undefined : { kind: 'str', value }
    }
    for (const [word, value] of constants) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length
        return value
      }
    }
    return this.#number()
  }

  #list(depth: number): PythonJson | undefined {
    const items: PythonJson[] = []
    this.#at += 1
    if (this.#takes(']')) return { kind: 'list', items }
    for (;;) {
      const item = this.value(depth + 1)
      if (item === undefined) return undefined
      items.push(item)
      if (this.#takes(']')) return { kind: 'list', items }
      if (!this.#takes(',')) return undefined
    }
  }

  #dict(depth: number): PythonJson | undefined {
    const entries = new Map<string, PythonJson>()
    this.#at += 1
    if (this.#takes('}')) return { kind: 'dict', entries }
    for (;;) {
      this.skipSpace()
      const key = this.#string()
      if (key === undefined || !this.#takes(':')) return undefined
      const value = this.value(depth + 1)
      if (value === undefined) return undefined
      entries.set(key, value)
      if (this.#takes('}')) return { kind: 'dict', entries }
      if (!this.#takes(',')) return undefined
    }
  }

  #number(): PythonJson | undefined {
    const [text, whole, fraction, exponent] = this.#match(number) ?? []
    if (text === undefined) return undefined
    if (fraction === undefined && exponent === undefined) return { kind: 'int', value: BigInt(whole!) }
    return { kind: 'float', value: Number(text) }
  }

  #string(): string | undefined {
    if (this.#text[this.#at] !== '"') return undefined
    let end = this.#at + 1
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1
    const literal = this.#text.slice(this.#at, end + 1)
    this.#at = end + 1
    try {
      // Between the quotes the two languages agree.
      return JSON.parse(literal) as string
    } catch {
      return undefined
    }
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found !== null) this.#at = pattern.lastIndex
    return found
  }

  #takes(mark: string): boolean {
    this.skipSpace()
    if (this.#text[this.#at] !== mark) return false
    this.#at += 1
    return true
  }
}
