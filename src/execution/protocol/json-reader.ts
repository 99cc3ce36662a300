import type { JsonValue } from '../../library/json-value.ts'

export type JsonReading =
  | { readonly valid: true; readonly value: JsonValue; readonly duplicateKey: boolean }
  | { readonly valid: false }

/**
 * Reads JSON text (RFC 8259) and notices duplicate keys, which `JSON.parse` silently drops. Takes time in proportion to the
 * text and no stack in proportion to its depth. Never throws.
 */
export function readJson(text: string): JsonReading {
  try {
    return { valid: true, value: JSON.parse(text) as JsonValue, duplicateKey: hasDuplicateKey(text) }
  } catch {
    return { valid: false }
  }
}

/** Whether an object of this valid JSON text, at any depth, has a key twice. */
function hasDuplicateKey(text: string): boolean {
  /** The keys of every open object; nothing for an open array. */
  const open: (Keys | undefined)[] = []
  let isKey = false
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '{':
        open.push(new Keys())
        isKey = true
        break
      case '[':
        open.push(undefined)
        isKey = false
        break
      case '}':
      case ']':
        open.pop()
        break
      case ',':
        isKey = open.at(-1) !== undefined
        break
      case '"': {
        const end = closingQuote(text, at)
        if (isKey && open.at(-1)?.add(text.slice(at, end + 1)) === false) return true
        isKey = false
        at = end
      }
    }
  }
  return false
}

function closingQuote(text: string, opening: number): number {
  for (let end = text.indexOf('"', opening + 1); ; end = text.indexOf('"', end + 1)) {
    let backslash = end
    while (text[backslash - 1] === '\\') backslash -= 1
    if ((end - backslash) % 2 === 0) return end
  }
}

/** Most objects have few keys and a hostile text has a million objects, so there is no set for the first key. */
class Keys {
  #first: string | undefined
  #all: Set<string> | undefined

  /** Takes a key as it is written; false if it was there already. */
  add(written: string): boolean {
    const key = written.includes('\\') ? JSON.stringify(JSON.parse(written)) : written
    if (this.#first === undefined) {
      this.#first = key
      return true
    }
    this.#all ??= new Set([this.#first])
    if (this.#all.has(key)) return false
    this.#all.add(key)
    return true
  }
}
