import { readFileSync, statSync } from 'node:fs'
import { inspect } from 'node:util'

const redacted = '[redacted]'

/**
 * An API key. It prints as `[redacted]` wherever it ends up, gives itself only to the origin that it was made for,
 * and can strike itself out of texts that a server sends back.
 */
export class ApiKey {
  readonly #value: string
  readonly #origin: string
  readonly #spellings: readonly string[]

  constructor(value: string, origin: string) {
    if (!/^[\x21-\x7e]+$/.test(value))
      throw new Error('The API key is empty or holds characters that no header can carry.')
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
    for (const spelling of this.#spellings) clean = clean.replaceAll(spelling, redacted)
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

/** Longest first: a short spelling may be part of a longer one. */
function spellings(key: string): string[] {
  const json = JSON.stringify(key).slice(1, -1)
  const url = encodeURIComponent(key)
  const all = [
    key,
    json,
    json.replaceAll('/', '\\/'),
    url,
    url.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
    ...base64Spellings(key),
  ]
  return [...new Set(all)].sort((a, b) => b.length - a.length)
}

/**
 * In base64 a key looks different at each of three offsets, and the characters at its ends depend on its neighbours.
 * What is left between them is the key's own; less than eight characters of it would strike out innocent text.
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

/** Strikes out what looks like a provider's key, for texts about keys that are not ours to know. */
export function redactLikelyKeys(text: string): string {
  return text.replace(/\b(?:sk|pk|rk|gsk|xai|key)[-_][\w-]{8,}|\bAIza[\w-]{8,}|\bBearer \S+/g, redacted)
}

/** A key from a file that nobody else may read. */
export function readKeyFile(path: string): string {
  const { mode } = statSync(path)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new Error(`Others may read the key file ${path}. Run: chmod 600 ${path}`)
  return readFileSync(path, 'utf8').trim()
}
