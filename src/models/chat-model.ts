import { hash } from 'node:crypto'
import { canonicalJson, type JsonObject } from '../library/json-value.ts'
import type { FailureKind } from './failure.ts'
import type { TokenUsage } from './usage.ts'

/** Asks a language model once. Never retries: `retry.ts` does that, so that every attempt is counted. */
export interface ChatModel {
  readonly identity: ModelIdentity
  /** Never rejects: failures and cancellation are replies. */
  ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply>
  /** Closes connections and files. */
  close?(): Promise<void>
}

/** Everything that affects a model's answers. Contains neither key nor address. */
export interface ModelIdentity {
  readonly provider: string
  readonly model: string
  /** Extra request fields, such as the switch that turns thinking off. */
  readonly options: JsonObject
}

export interface ChatRequest {
  readonly system: string
  readonly user: string
  readonly decoding: Decoding
  /** Only checks that the endpoint is alive; the answer is not kept. */
  readonly isControl?: true
}

export interface Decoding {
  readonly temperature: number
  readonly maxOutputTokens: number
  readonly thinking: boolean
  /** Ask for the `json_object` output mode. */
  readonly json: boolean
}

/** The paper's executor settings. */
export const paperDecoding: Decoding = { temperature: 0, maxOutputTokens: 2048, thinking: false, json: true }

export type ChatReply = ChatAnswer | ChatFailure

export interface ChatAnswer {
  readonly ok: true
  readonly text: string
  /** `length` means cut off at the output limit. */
  readonly finish: 'stop' | 'length' | 'filter' | 'other'
  /** Absent if the server reported none or nonsense; never estimated. */
  readonly usage?: TokenUsage
  readonly warnings: readonly ReplyWarning[]
  /** The model that answered, according to the server. */
  readonly servedModel?: string
  readonly durationMs: number
}

export interface ChatFailure {
  readonly ok: false
  readonly kind: FailureKind
  /** For people to read; contains no secrets. */
  readonly message: string
  readonly status?: number
  /** The `Retry-After` header as the server wrote it. */
  readonly retryAfter?: string
  readonly usage?: TokenUsage
  /** No connection was made: the server has not seen the request. */
  readonly unsent?: boolean
  /** The server blames this request: it is too long, or its content was refused. */
  readonly blamesRequest?: boolean
  readonly durationMs: number
}

export const cancelled: ChatFailure = {
  ok: false,
  kind: 'cancelled',
  message: 'The call was cancelled.',
  durationMs: 0,
}

/** `thinking`: the model seems to think although it should not. */
export type ReplyWarning = 'usage_missing' | 'usage_invalid' | 'usage_constant' | 'thinking'

/** Equal for equal model, settings and messages: at temperature 0, identical requests get identical answers. */
export function requestDigest(identity: ModelIdentity, { system, user, decoding }: ChatRequest): string {
  const { temperature, maxOutputTokens, thinking, json } = decoding
  const { provider, model, options } = identity
  const who = [provider, model, canonicalJson(options)]
  const what = [temperature, maxOutputTokens, thinking, json, system, user]
  return hash('sha256', JSON.stringify([...who, ...what]), 'hex')
}
