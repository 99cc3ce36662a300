import type { JsonObject, JsonValue } from '../library/json-value.ts'

// Lengths are code points of JSON text, because that is what is sent and paid for: a line feed counts as two, a
// control character as six. Cuts never split a surrogate pair.

/**
 * The shortest length that a text may be cut to. It leaves room for the cut mark and for any of our ids, roles and
 * statuses.
 */
export const shortestCut = 96

/** Cuts a text so that its JSON form has at most `budget` code points between the quotes. A mark says how much is missing. */
export function boundedText(text: string, budget: number): string {
  return text.length * 6 <= budget || wholeString(text, budget) !== undefined ? text : cut(text, budget)
}

/** Like `boundedText`, as a JSON string. */
export function boundedString(text: string, budget: number): string {
  return wholeString(text, budget) ?? JSON.stringify(cut(text, budget))
}

/** A text as a JSON string, if it fits the budget uncut. */
function wholeString(text: string, budget: number): string | undefined {
  // A code point takes at most two UTF-16 units, so a text this long cannot fit.
  if (text.length > 2 * budget) return undefined
  const json = JSON.stringify(text)
  return json.length - 2 <= budget || codePoints(json) - 2 <= budget ? json : undefined
}

/**
 * A value as JSON text of at most `budget` code points. If it is too long, its long texts are all cut to one length.
 * If that is not enough, the whole value becomes one text, which is cut.
 */
export function boundedValue(value: JsonValue, budget: number): string {
  if (typeof value === 'string') return boundedString(value, budget - 2)
  const whole = JSON.stringify(value)
  if (whole.length <= budget) return whole
  const excess = codePoints(whole) - budget
  if (excess <= 0) return whole
  const longest = lengthThatFits(textLengths(value), excess)
  return longest === undefined
    ? boundedString(whole, budget - 2)
    : JSON.stringify(withShortTexts(value, longest))
}

/** An object as JSON text whose fields, keys included, take at most `budget` code points. */
export function boundedFields(fields: JsonObject, budget: number): string {
  const whole = boundedValue(fields, budget)
  if (whole.startsWith('{')) return whole
  // Too many small values: each field gets an equal share, and becomes a cut text if it needs more.
  const entries = Object.entries(fields)
  const share = Math.floor(budget / entries.length)
  const parts = entries.map(([key, value]) => {
    const name = `${JSON.stringify(key)}:`
    return name + boundedValue(value, share - codePoints(name) - 2)
  })
  return `{${parts.join(',')}}`
}

export function codePoints(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length - 1; index += 1) {
    if (isPair(text, index)) {
      count -= 1
      index += 1
    }
  }
  return count
}

function cut(text: string, budget: number): string {
  const room = budget - mark(codePoints(text)).length
  let used = 0
  let end = 0
  while (end < text.length) {
    const next = end + (isPair(text, end) ? 2 : 1)
    used += written(text.slice(end, next))
    if (used > room) break
    end = next
  }
  return text.slice(0, end) + mark(codePoints(text.slice(end)))
}

function mark(leftOut: number): string {
  return ` … [cut: ${leftOut} more characters]`
}

function isPair(text: string, index: number): boolean {
  const first = text.charCodeAt(index)
  if (first < 0xd800 || first > 0xdbff) return false
  const second = text.charCodeAt(index + 1)
  return second >= 0xdc00 && second <= 0xdfff
}

/** Code points of a text's JSON form, without the quotes. */
function written(text: string): number {
  return codePoints(JSON.stringify(text)) - 2
}

function textLengths(value: JsonValue, lengths: number[] = []): number[] {
  if (typeof value === 'string') lengths.push(written(value))
  else if (typeof value === 'object' && value !== null)
    for (const part of Object.values(value as JsonObject)) textLengths(part, lengths)
  return lengths
}

/** The greatest length to which texts can be cut to remove `excess`. Undefined if it would be below `shortestCut`. */
function lengthThatFits(lengths: readonly number[], excess: number): number | undefined {
  const saved = (longest: number) => lengths.reduce((sum, length) => sum + Math.max(0, length - longest), 0)
  if (saved(shortestCut) < excess) return undefined
  let fits = shortestCut
  let tooLong = lengths.reduce((longest, length) => Math.max(longest, length), 0)
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1
    if (saved(middle) >= excess) fits = middle
    else tooLong = middle
  }
  return fits
}

function withShortTexts(value: JsonValue, longest: number): JsonValue {
  if (typeof value === 'string') return boundedText(value, longest)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((part: JsonValue) => withShortTexts(part, longest))
  const copy = Object.create(null) as Record<string, JsonValue>
  for (const [key, part] of Object.entries(value)) copy[key] = withShortTexts(part, longest)
  return copy
}
