import type { JsonValue } from '../../library/json-value.ts'
import { type JsonTree, tooDeep } from './json-reader.ts'

export interface Storable {
  readonly value: JsonValue
  /** False when something lay too deep to be kept; `null` stands in its place. */
  readonly whole: boolean
}

/**
 * What is kept of a response, in a form that can be written down and handed on: well-formed Unicode (U+FFFD for a lone
 * surrogate), in objects without a prototype.
 */
export function toStorable(tree: JsonTree): Storable {
  let whole = true
  // Recursive, since the reader keeps nothing that is deep.
  const copy = (part: JsonTree): JsonValue => {
    if (typeof part === 'string') return part.toWellFormed()
    if (part === tooDeep) {
      whole = false
      return null
    }
    if (typeof part !== 'object' || part === null) return part
    if (Array.isArray(part)) return part.map(copy)
    const object = Object.create(null) as Record<string, JsonValue>
    for (const [key, value] of part) object[key.toWellFormed()] = copy(value)
    return object
  }
  const value = copy(tree)
  return { value, whole }
}
