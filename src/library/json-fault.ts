/** Something that `JSON.parse` silently accepts, although it cannot be intended. */
export interface JsonFault {
  /** Line in the text, from one. */
  readonly line: number
  /** From the outermost value to the faulty field. */
  readonly path: readonly (string | number)[]
  readonly kind: keyof typeof problems
  /** The problem and its remedy, to follow the field's name. */
  readonly problem: string
}

const problems = {
  /** `JSON.parse` keeps the last one, so the meaning depends on the reader. */
  repeated: 'occurs twice in the same object. Remove one of them.',
  /** It cannot be stored as UTF-8: it would come back as another text. */
  'half a character':
    'contains half of a surrogate pair (\\uD800 to \\uDFFF, without the other half). Remove it, or write the whole character.',
} as const

/** An open array or object, and the reader's position in it. */
interface Level {
  readonly isObject: boolean
  /** Undefined before the first key of an object. */
  place?: string | number
  /** Only kept for objects with several keys: a hostile text may have a million objects with one. */
  keys?: Set<string | number>
}

/**
 * The first fault of a valid JSON text, or the first of one kind. Takes linear time, and no stack space per level of
 * depth.
 */
export function findJsonFault(json: string, only?: JsonFault['kind']): JsonFault | undefined {
  const levels: Level[] = []
  const fault = (kind: keyof typeof problems, at: number): JsonFault => ({
    line: json.slice(0, at).split('\n').length,
    path: levels.map(({ place }) => place!),
    kind,
    problem: problems[kind],
  })
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at]
    const level = levels.at(-1)
    if (character === '{') levels.push({ isObject: true })
    else if (character === '[') levels.push({ isObject: false, place: 0 })
    else if (character === '}' || character === ']') levels.pop()
    else if (character === ',' && level?.isObject === false) level.place = Number(level.place) + 1
    else if (character === '"') {
      const start = at
      at = endOfString(json, start)
      const text = textOf(json.slice(start, at + 1))
      const isKey = level?.isObject === true && isFollowedByColon(json, at + 1)
      const before = level?.place
      if (isKey) level.place = text
      if (only !== 'repeated' && !text.isWellFormed()) return fault('half a character', start)
      if (!isKey || only === 'half a character' || before === undefined) continue
      level.keys ??= new Set([before])
      if (level.keys.has(text)) return fault('repeated', start)
      level.keys.add(text)
    }
  }
  return undefined
}

/**
 * Whether an object of this valid JSON text has the same key twice. `value` is the parsed text. Counting is usually
 * enough: a text has at most as many keys as quotes before a colon, and if the value has as many, none is missing.
 */
export function hasRepeatedKey(json: string, value: unknown): boolean {
  return countKeys(value) !== mostKeys(json) && findJsonFault(json, 'repeated') !== undefined
}

/** Undefined if a key has a backslash: V8 may confuse it with a key written with an escape. */
function countKeys(value: unknown): number | undefined {
  let count = 0
  // Iterative, because a hostile text may be a million levels deep.
  const left = [value]
  while (left.length > 0) {
    const part = left.pop()
    if (typeof part !== 'object' || part === null) continue
    if (Array.isArray(part)) {
      for (const inner of part) if (typeof inner === 'object') left.push(inner)
      continue
    }
    for (const key of Object.keys(part)) {
      if (key.includes('\\')) return undefined
      count += 1
      const inner = (part as Record<string, unknown>)[key]
      if (typeof inner === 'object') left.push(inner)
    }
  }
  return count
}

/** An upper bound: also counts what only looks like a key, inside a string with an escaped quote. */
function mostKeys(json: string): number {
  let count = 0
  for (let at = json.indexOf(':'); at !== -1; at = json.indexOf(':', at + 1)) {
    let before = at - 1
    while (isSpace(json[before])) before -= 1
    if (json[before] === '"') count += 1
  }
  return count
}

/** A path in the usual notation: `tests[0].input`. */
export function fieldName(path: readonly (string | number)[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part.toWellFormed()}`))
  return parts.join('').replace(/^\./, '')
}

function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end
}

function isEscaped(json: string, at: number): boolean {
  let before = at
  while (json[before - 1] === '\\') before -= 1
  return (at - before) % 2 === 1
}

function textOf(literal: string): string {
  return literal.includes('\\') ? JSON.parse(literal) : literal.slice(1, -1)
}

function isFollowedByColon(json: string, start: number): boolean {
  let at = start
  while (isSpace(json[at])) at += 1
  return json[at] === ':'
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\n' || character === '\r' || character === '\t'
}
