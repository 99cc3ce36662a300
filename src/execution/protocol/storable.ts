import type { JsonValue } from '../../library/json-value.ts'

/** Deeper than any answer or payload is meant to be, and shallow enough for every JSON writer and schema library. */
export const keptDepth = 100

export interface Storable {
  readonly value: JsonValue
  /** False when something lay deeper than `keptDepth`; `null` stands in its place. */
  readonly whole: boolean
}

/**
 * What is kept of a response, in a form that can be stored and passed on: well-formed Unicode (U+FFFD for a lone surrogate),
 * in objects without a prototype, so that a key such as `__proto__` is only a key.
 */
export function toStorable(json: JsonValue): Storable {
  let whole = true
  const copy = (part: JsonValue, depth: number): JsonValue => {
    if (typeof part === 'string') return part.toWellFormed()
    if (typeof part !== 'object' || part === null) return part
    const entries = Object.entries(part)
    if (depth >= keptDepth && entries.length > 0) {
      whole = false
      return null
    }
    if (Array.isArray(part)) return part.map((element: JsonValue) => copy(element, depth + 1))
    const object = Object.create(null) as Record<string, JsonValue>
    for (const [key, value] of entries) object[key.toWellFormed()] = copy(value, depth + 1)
    return object
  }
  return { value: copy(json, 0), whole }
}
