import type { AnswerContract, AnswerFault } from '../../library/answer-contract.ts'
import { hasRepeatedKey } from '../../library/json-fault.ts'
import { type JsonObject, type JsonValue, jsonTypeOf } from '../../library/json-value.ts'

/** Part of the executor fingerprint, since another protocol would give other answers. */
export const protocolVersion = 'analysis-answer-v2'

/** In the order of checking; those of `AnswerFault` are checked level by level, from the outside in. */
export type FormatReason = 'invalid_json' | 'duplicate_key' | 'not_an_object' | AnswerFault

/** How a model's text was classified. Whether a tool may be used, or an answer is right, is decided elsewhere. */
export type Response =
  | { readonly class: 'content'; readonly analysis: string; readonly answer: JsonValue }
  | { readonly class: 'null_answer'; readonly analysis: string }
  | ToolRequest
  | {
      readonly class: 'contract_violation'
      readonly analysis: string
      readonly answer: JsonValue
      readonly problem: string
    }
  | FormatFailure

export interface ToolRequest {
  readonly class: 'tool_request'
  readonly tool: string
  /** Absent if it was nested too deeply to keep; no tool takes such a payload. */
  readonly payload?: JsonObject
}

interface FormatFailure {
  readonly class: 'format_failure'
  readonly reason: FormatReason
}

/** Reads the response of an atomic node, group worker or internal aggregator: an envelope with a `kind`. Never throws. */
export function parseNodeResponse(text: string, contract: AnswerContract): Response {
  const reading = readObject(text)
  if ('reason' in reading) return reading
  const envelope = reading.object
  const kind = field(envelope, 'kind')
  if (kind === undefined) return failure('missing_field')
  if (typeof kind !== 'string') return failure('wrong_type')
  if (kind !== 'content' && kind !== 'tool_request') return failure('bad_value')
  const body = field(envelope, kind)
  if (body === undefined) return failure('missing_field')
  if (!isObject(body)) return failure('wrong_type')
  return kind === 'content' ? readContent(body, contract) : readToolRequest(body)
}

/** Reads the response of the finalizer or the direct path: the bare content object. Never throws. */
export function parseFinalResponse(text: string, contract: AnswerContract): Exclude<Response, ToolRequest> {
  const reading = readObject(text)
  return 'reason' in reading ? reading : readContent(reading.object, contract)
}

/** Reads any JSON object that a model was asked for. Never throws. */
export function parseObject(text: string): { readonly object: JsonObject } | FormatFailure {
  const reading = readObject(text)
  return 'reason' in reading ? reading : { object: toStorable(reading.object).value as JsonObject }
}

/** The extra fields of a response that has already been read. */
export function furtherFields(text: string, names: readonly string[]): JsonObject {
  const reading = parseObject(text)
  const body = 'reason' in reading ? undefined : field(reading.object, 'content')
  if (body === undefined || !isObject(body)) return {}
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(body, name) ? [[name, body[name]!]] : [])))
}

function readObject(text: string): { readonly object: JsonObject } | FormatFailure {
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch {
    return failure('invalid_json')
  }
  // `JSON.parse` silently keeps only the last of repeated keys.
  if (hasRepeatedKey(text, value)) return failure('duplicate_key')
  return isObject(value) ? { object: value } : failure('not_an_object')
}

function readContent(content: JsonObject, contract: AnswerContract): Exclude<Response, ToolRequest> {
  const analysis = field(content, 'analysis')
  const answer = field(content, 'answer')
  if (analysis === undefined || answer === undefined) return failure('missing_field')
  if (typeof analysis !== 'string') return failure('wrong_type')
  if (answer !== null && !contract.types.includes(jsonTypeOf(answer))) return failure('wrong_type')
  if (analysis.trim() === '') return failure('bad_value')
  const said = analysis.toWellFormed()
  if (answer === null) return { class: 'null_answer', analysis: said }
  const kept = toStorable(answer)
  const verdict = contract.check(kept.value)
  if (verdict.verdict === 'malformed') return failure(verdict.reason)
  if (verdict.verdict === 'outside' || !kept.whole) {
    const problem = verdict.verdict === 'outside' ? verdict.problem : 'The answer is nested too deeply.'
    return { class: 'contract_violation', analysis: said, answer: kept.value, problem }
  }
  return { class: 'content', analysis: said, answer: kept.value }
}

function readToolRequest(request: JsonObject): ToolRequest | FormatFailure {
  const tool = field(request, 'tool')
  const payload = field(request, 'payload')
  if (tool === undefined || payload === undefined) return failure('missing_field')
  if (typeof tool !== 'string' || !isObject(payload)) return failure('wrong_type')
  if (tool === '') return failure('bad_value')
  const kept = toStorable(payload)
  return {
    class: 'tool_request',
    tool: tool.toWellFormed(),
    payload: kept.whole ? (kept.value as JsonObject) : undefined,
  }
}

function isObject(value: JsonValue): value is JsonObject {
  return jsonTypeOf(value) === 'object'
}

/** Own fields only: inherited ones do not come from the model. */
function field(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

function failure(reason: FormatReason): FormatFailure {
  return { class: 'format_failure', reason }
}

/** Deeper than any sensible answer or payload, and shallow enough for every JSON writer and schema library. */
export const keptDepth = 100

/**
 * A copy that is safe to store and pass on: well-formed Unicode (U+FFFD for a lone surrogate), in objects without a
 * prototype, so that a key such as `__proto__` is only a key. Anything deeper than `keptDepth` becomes `null`, and
 * `whole` is false.
 */
export function toStorable(json: JsonValue): { readonly value: JsonValue; readonly whole: boolean } {
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
