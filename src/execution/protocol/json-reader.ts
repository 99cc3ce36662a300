/**
 * A strict reader of JSON text (RFC 8259). `JSON.parse` keeps the last of two equal keys without a word; the protocol must
 * know of them. Objects become maps, so that no key, `__proto__` included, can mean more than itself.
 */
export type JsonTree = string | number | boolean | null | JsonTree[] | Map<string, JsonTree> | typeof tooDeep

/** Stands for an array or object that lies deeper than `keptDepth`: it was read and checked, but is not kept. */
export const tooDeep = Symbol('too deep')

/** Deeper than any answer or payload is meant to be, and shallow enough for every JSON writer and schema library. */
export const keptDepth = 100

export type JsonReading =
  | { readonly valid: true; readonly value: JsonTree; readonly duplicateKey: boolean }
  | { readonly valid: false }

/** Takes time in proportion to the text and no stack in proportion to its depth. Never throws. */
export function readJson(text: string): JsonReading {
  return new Reader(text).read()
}

const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const dot = 0x2e
const zero = 0x30
const nine = 0x39
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const escapes = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

// biome-ignore lint/suspicious/noControlCharactersInRegex: in a JSON string these are what is not allowed
const special = /[\\\x00-\x1f]/

const invalid: JsonReading = { valid: false }

class Reader {
  readonly #text: string
  #position = 0
  #duplicateKey = false
  /** The arrays and objects that are still open, and for each open object the key whose value comes next. */
  readonly #open: Container[] = []
  readonly #keys: string[] = []

  constructor(text: string) {
    this.#text = text
  }

  read(): JsonReading {
    for (;;) {
      let value = this.#value()
      if (value === undefined) return invalid
      if (value === opened) continue
      for (;;) {
        if (this.#open.length === 0) return this.#end(value)
        const parent = this.#open[this.#open.length - 1]!
        const isObject = this.#place(parent, value)
        const next = this.#next()
        if (next === comma) {
          if (isObject && !this.#key()) return invalid
          break
        }
        if (next !== (isObject ? closeBrace : closeBracket)) return invalid
        this.#open.pop()
        value = parent instanceof Map || Array.isArray(parent) ? parent : tooDeep
      }
    }
  }

  #end(value: JsonTree): JsonReading {
    this.#skipSpace()
    if (this.#position !== this.#text.length) return invalid
    return { valid: true, value, duplicateKey: this.#duplicateKey }
  }

  /** Puts a value where it belongs, and says whether that is an object. */
  #place(parent: Container, value: JsonTree): boolean {
    if (parent === uncollected) return false
    if (Array.isArray(parent)) {
      parent.push(value)
      return false
    }
    const key = this.#keys.pop()!
    if (parent.has(key)) this.#duplicateKey = true
    parent.set(key, value)
    return true
  }

  /** A whole scalar or empty container, or `opened` for a container whose first value comes next. */
  #value(): JsonTree | typeof opened | undefined {
    const first = this.#next()
    if (first === quote) return this.#string()
    if (first === openBracket) {
      if (this.#closes(closeBracket)) return []
      this.#open.push(this.#open.length < keptDepth ? [] : uncollected)
      return opened
    }
    if (first === openBrace) {
      if (this.#closes(closeBrace)) return new Map()
      this.#open.push(this.#open.length < keptDepth ? new Map() : new KeysOnly())
      return this.#key() ? opened : undefined
    }
    this.#position -= 1
    if (first === minus || isDigit(first)) return this.#number()
    if (this.#word('true')) return true
    if (this.#word('false')) return false
    if (this.#word('null')) return null
    return undefined
  }

  #key(): boolean {
    if (this.#next() !== quote) return false
    const key = this.#string()
    if (key === undefined || this.#next() !== colon) return false
    this.#keys.push(key)
    return true
  }

  /** The rest of a string whose opening quote was read. */
  #string(): string | undefined {
    // Most strings hold nothing to unescape: then the next quote ends them, and native search is much faster.
    const end = this.#text.indexOf('"', this.#position)
    if (end === -1) return undefined
    const plain = this.#text.slice(this.#position, end)
    if (!special.test(plain)) {
      this.#position = end + 1
      return plain
    }
    let result = ''
    let start = this.#position
    for (;;) {
      const code = this.#text.charCodeAt(this.#position)
      if (code === quote) {
        result += this.#text.slice(start, this.#position)
        this.#position += 1
        return result
      }
      if (code === backslash) {
        result += this.#text.slice(start, this.#position)
        const character = this.#escape()
        if (character === undefined) return undefined
        result += character
        start = this.#position
      } else if (code >= 0x20) this.#position += 1
      else return undefined // a control character, or NaN: the text ended
    }
  }

  #escape(): string | undefined {
    const letter = this.#text.charAt(this.#position + 1)
    if (letter !== 'u') {
      this.#position += 2
      return escapes.get(letter)
    }
    const digits = this.#text.slice(this.#position + 2, this.#position + 6)
    if (!/^[0-9A-Fa-f]{4}$/.test(digits)) return undefined
    this.#position += 6
    return String.fromCharCode(Number.parseInt(digits, 16))
  }

  #number(): number | undefined {
    const start = this.#position
    if (this.#peek() === minus) this.#position += 1
    if (this.#peek() === zero) this.#position += 1
    else if (!this.#digits()) return undefined
    if (this.#peek() === dot) {
      this.#position += 1
      if (!this.#digits()) return undefined
    }
    if (this.#text.charAt(this.#position).toLowerCase() === 'e') {
      this.#position += 1
      if ('+-'.includes(this.#text.charAt(this.#position))) this.#position += 1
      if (!this.#digits()) return undefined
    }
    return Number(this.#text.slice(start, this.#position))
  }

  #digits(): boolean {
    const start = this.#position
    while (isDigit(this.#peek())) this.#position += 1
    return this.#position > start
  }

  #word(word: string): boolean {
    if (!this.#text.startsWith(word, this.#position)) return false
    this.#position += word.length
    return true
  }

  #peek(): number {
    return this.#text.charCodeAt(this.#position)
  }

  /** The next character that is not white space, and a step past it. */
  #next(): number {
    this.#skipSpace()
    this.#position += 1
    return this.#text.charCodeAt(this.#position - 1)
  }

  #closes(bracket: number): boolean {
    this.#skipSpace()
    if (this.#peek() !== bracket) return false
    this.#position += 1
    return true
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#peek()
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#position += 1
    }
  }
}

const opened = Symbol('opened')

/** An array beyond `keptDepth`. */
const uncollected = Symbol('uncollected')

type Container = JsonTree[] | Map<string, JsonTree> | typeof uncollected | KeysOnly

/** An object beyond `keptDepth`: only its keys count. Most have one, so a million of them must not cost a million sets. */
class KeysOnly {
  #first: string | undefined
  #all: Set<string> | undefined

  has(key: string): boolean {
    return this.#all === undefined ? this.#first === key : this.#all.has(key)
  }

  set(key: string): void {
    if (this.#first === undefined) this.#first = key
    else this.#all = (this.#all ?? new Set([this.#first])).add(key)
  }
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine
}
