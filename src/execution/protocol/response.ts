import type { AnswerContract, AnswerFault } from '../../library/answer-contract.ts'
import { type JsonObject, type JsonType, type JsonValue, jsonTypeOf } from '../../library/json-value.ts'
import { type JsonTree, readJson } from './json-reader.ts'
import { toStorable } from './storable.ts'

/** Part of an executor's fingerprint: another protocol gives other answers. */
export const protocolVersion = 'analysis-answer-v2'

/** In the order in which they are checked; the last four at each level from the outside in. */
export type FormatReason = 'invalid_json' | 'duplicate_key' | 'not_an_object' | AnswerFault

/** What a model's text is. Whether a tool may be used, or an answer is right, is decided elsewhere. */
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
  /** Absent when it is nested too deeply to be kept; no tool takes such a payload. */
  readonly payload?: JsonObject
}

interface FormatFailure {
  readonly class: 'format_failure'
  readonly reason: FormatReason
}

/** Reads the response of an atomic node, group worker or internal aggregator: an envelope with a `kind`. Never throws. */
export function parseNodeResponse(text: string, contract: AnswerContract): Response {
  const envelope = readObject(text)
  if (!(envelope instanceof Map)) return envelope
  const kind = envelope.get('kind')
  if (kind === undefined) return failure('missing_field')
  if (typeof kind !== 'string') return failure('wrong_type')
  if (kind !== 'content' && kind !== 'tool_request') return failure('bad_value')
  const body = envelope.get(kind)
  if (body === undefined) return failure('missing_field')
  if (!(body instanceof Map)) return failure('wrong_type')
  return kind === 'content' ? readContent(body, contract) : readToolRequest(body)
}

/** Reads the response of the finalizer or the direct path: the bare content object. Never throws. */
export function parseFinalResponse(text: string, contract: AnswerContract): Exclude<Response, ToolRequest> {
  const content = readObject(text)
  return content instanceof Map ? readContent(content, contract) : content
}

function readObject(text: string): Map<string, JsonTree> | FormatFailure {
  const reading = readJson(text)
  if (!reading.valid) return failure('invalid_json')
  if (reading.duplicateKey) return failure('duplicate_key')
  return reading.value instanceof Map ? reading.value : failure('not_an_object')
}

function readContent(
  content: Map<string, JsonTree>,
  contract: AnswerContract,
): Exclude<Response, ToolRequest> {
  const analysis = content.get('analysis')
  const answer = content.get('answer')
  if (analysis === undefined || answer === undefined) return failure('missing_field')
  if (typeof analysis !== 'string') return failure('wrong_type')
  if (answer !== null && !contract.types.includes(typeOfTree(answer))) return failure('wrong_type')
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

function readToolRequest(request: Map<string, JsonTree>): ToolRequest | FormatFailure {
  const tool = request.get('tool')
  const payload = request.get('payload')
  if (tool === undefined || payload === undefined) return failure('missing_field')
  if (typeof tool !== 'string' || !(payload instanceof Map)) return failure('wrong_type')
  if (tool === '') return failure('bad_value')
  const kept = toStorable(payload)
  return {
    class: 'tool_request',
    tool: tool.toWellFormed(),
    ...(kept.whole ? { payload: kept.value as JsonObject } : {}),
  }
}

function typeOfTree(tree: JsonTree): JsonType {
  return tree instanceof Map ? 'object' : jsonTypeOf(tree as JsonValue)
}

function failure(reason: FormatReason): FormatFailure {
  return { class: 'format_failure', reason }
}
