import { readFileSync, statSync } from 'node:fs'
import { inspect } from 'node:util'

const redacted = '[redacted]'

/**
 * An API key. It prints as `[redacted]` everywhere, reveals itself only to the origin it was made for, and can redact
 * itself from texts that a server sends back.
 */
export class ApiKey {
  readonly #value: string
  readonly #origin: string
  readonly #spellings: readonly string[]

  constructor(value: string, origin: string) {
    if (!/^[\x21-\x7e]+$/.test(value))
      throw new Error('The API key is empty or contains characters that are not allowed in a header.')
    this.#value = value
    this.#origin = origin
    this.#spellings = spellings(value)
  }

  /** The `authorization` header for a request to this origin. */
  bearerFor(origin: string): string {
    if (origin !== this.#origin)
      throw new Error(`The API key is for ${this.#origin} and does not go to ${origin}.`)
    return `Bearer ${this.#value}`
  }

  redact(text: string): string {
    let clean = text
    for (const spelling of this.#spellings) clean = strikeOut(clean, spelling)
    return clean
  }

  toString(): string {
    return redacted
  }

  toJSON(): string {
    return redacted
  }

  [inspect.custom](): string {
    return redacted
  }
}

/** Every way the key may be written. Longest first, since a short spelling may be part of a longer one. */
function spellings(key: string): string[] {
  const url = encodeURIComponent(key)
  const all = [key, url, url.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()), ...base64Spellings(key)]
  return [...new Set(all.map((spelling) => withoutEscapes(spelling).text))]
    .filter((spelling) => spelling !== '')
    .sort((a, b) => b.length - a.length)
}

/** Redacts a spelling, however many levels of JSON escaping it has. */
function strikeOut(text: string, spelling: string): string {
  const plain = withoutEscapes(text)
  let clean = ''
  let end = 0
  let at = plain.text.indexOf(spelling)
  while (at !== -1) {
    clean += text.slice(end, plain.startOf(at)) + redacted
    end = plain.startOf(at + spelling.length)
    at = plain.text.indexOf(spelling, at + spelling.length)
  }
  return clean + text.slice(end)
}

/**
 * A text without its backslashes, and with `\u002f` as `/`: the result is the same at every level of escaping.
 * `startOf` maps an index of the result to the start of that character in the original, including preceding
 * backslashes.
 */
function withoutEscapes(text: string): { text: string; startOf: (index: number) => number } {
  if (!text.includes('\\')) return { text, startOf: (index) => index }
  const kept: string[] = []
  const starts: number[] = []
  let start = 0
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') continue
    const code = at === start ? undefined : /^u([0-9a-f]{4})/i.exec(text.slice(at, at + 5))?.[1]
    if (code !== undefined) at += 4
    const character = code === undefined ? text[at]! : String.fromCharCode(Number.parseInt(code, 16))
    if (character === '\\') continue
    kept.push(character)
    starts.push(start)
    start = at + 1
  }
  return { text: kept.join(''), startOf: (index) => starts[index] ?? text.length }
}

/**
 * In base64, a key looks different at each of three offsets, and the characters at its ends depend on its neighbours.
 * The part between them belongs to the key alone; with fewer than eight characters it would redact innocent text.
 */
function base64Spellings(key: string): string[] {
  const all: string[] = []
  for (const offset of [0, 1, 2]) {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(key)])
    const own = bytes
      .toString('base64')
      .slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6))
    if (own.length >= 8) all.push(own, own.replaceAll('+', '-').replaceAll('/', '_'))
  }
  const bytes = Buffer.from(key)
  return [bytes.toString('base64'), bytes.toString('base64url'), ...all]
}

/** Redacts what looks like a provider's key, for keys we do not know. */
export function redactLikelyKeys(text: string): string {
  return text.replace(/\b(?:sk|pk|rk|gsk|xai|key)[-_][\w-]{8,}|\bAIza[\w-]{8,}|\bBearer \S+/g, redacted)
}

/** Reads a key from a file that only its owner may read. */
export function readKeyFile(path: string): string {
  const { mode } = statSync(path)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new Error(`Others may read the key file ${path}. Run: chmod 600 ${path}`)
  return readFileSync(path, 'utf8').trim()
}
