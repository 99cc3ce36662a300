/** A JSON value. Objects that came from a model have no prototype. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

export interface JsonObject {
  readonly [key: string]: JsonValue
}

export type JsonType = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object'

export function jsonTypeOf(value: JsonValue): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as 'string' | 'number' | 'boolean' | 'object'
}

/** JSON with sorted keys, so that equal values have equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}

const maxDepth = 20

/** The value, or undefined if it is nested so deeply that traversing it could exhaust the stack. */
export function plain(value: unknown): JsonValue | undefined {
  let level = [value]
  for (let depth = 0; depth < maxDepth; depth += 1) {
    level = level.flatMap((part) => (typeof part === 'object' && part !== null ? Object.values(part) : []))
    if (level.length === 0) return value as JsonValue | undefined
  }
  return undefined
}
