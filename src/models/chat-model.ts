import { hash } from 'node:crypto'
import { canonicalJson, type JsonObject } from '../library/json-value.ts'
import type { FailureKind } from './failure.ts'
import type { TokenUsage } from './usage.ts'

/** Asks a language model once. Never retries: `retry.ts` does, so that every attempt is counted. */
export interface ChatModel {
  readonly identity: ModelIdentity
  /** Resolves even if the model fails or the call is cancelled: the reply says so. */
  ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply>
  /** Closes connections and files. */
  close?(): Promise<void>
}

/** What distinguishes one model's answers from another's. Neither the key nor the address is part of it. */
export interface ModelIdentity {
  readonly provider: string
  readonly model: string
  /** Request fields beyond the decoding settings, such as the switch that turns thinking off. */
  readonly options: JsonObject
}

export interface ChatRequest {
  readonly system: string
  readonly user: string
  readonly decoding: Decoding
  /** Only asks whether the endpoint is alive; nobody keeps the answer. */
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
  /** `length`: cut off at the output limit. */
  readonly finish: 'stop' | 'length' | 'filter' | 'other'
  /** Absent when the server reported none, or nonsense; never invented. */
  readonly usage?: TokenUsage
  readonly warnings: readonly ReplyWarning[]
  /** The model that answered, according to the server. */
  readonly servedModel?: string
  readonly durationMs: number
}

export interface ChatFailure {
  readonly ok: false
  readonly kind: FailureKind
  /** For a person; free of secrets. */
  readonly message: string
  readonly status?: number
  /** The `Retry-After` header as the server wrote it. */
  readonly retryAfter?: string
  readonly usage?: TokenUsage
  /** No connection came about: the server has not seen the request. */
  readonly unsent?: boolean
  /** A rejection in which the server names what is wrong with this request: it is too long, or its content refused. */
  readonly blamesRequest?: boolean
  readonly durationMs: number
}

export const cancelled: ChatFailure = {
  ok: false,
  kind: 'cancelled',
  message: 'The call was cancelled.',
  durationMs: 0,
}

/** `thinking`: there are signs of thinking although it was to be off. */
export type ReplyWarning = 'usage_missing' | 'usage_invalid' | 'usage_constant' | 'thinking'

/** The same for the same model, settings and messages: at temperature 0 an identical request is an identical answer. */
export function requestDigest(identity: ModelIdentity, { system, user, decoding }: ChatRequest): string {
  const { temperature, maxOutputTokens, thinking, json } = decoding
  const { provider, model, options } = identity
  const who = [provider, model, canonicalJson(options)]
  const what = [temperature, maxOutputTokens, thinking, json, system, user]
  return hash('sha256', JSON.stringify([...who, ...what]), 'hex')
}
