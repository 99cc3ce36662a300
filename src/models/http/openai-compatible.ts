import { Pool } from 'undici'
import type { ChatFailure, ChatModel, ChatReply, ChatRequest, ModelIdentity } from '../chat-model.ts'
import { blamesRequest, type FailureKind, failureOfStatus } from '../failure.ts'
import { ReplyWarnings } from '../reply-warnings.ts'
import type { ApiKey } from '../secret.ts'
import { type ExchangeLimits, type HttpAnswer, post } from './http-exchange.ts'
import { completionBody, type Dialect, readCompletion, readErrorBody } from './openai-wire.ts'

export interface EndpointSettings extends Dialect, Partial<ExchangeLimits> {
  readonly provider: string
  readonly model: string
  /** Checked by `checkBaseURL`. */
  readonly baseURL: URL
  readonly apiKey?: ApiKey
  /** The provider answers 429 `insufficient_quota` but means tokens per minute. */
  readonly quotaIsRate?: boolean
}

const maxMessage = 500
const maxModelName = 200
const maxRetryAfter = 100

/** Any server that speaks OpenAI's `POST {baseURL}/chat/completions`. */
export class OpenAICompatibleModel implements ChatModel {
  readonly identity: ModelIdentity
  readonly #settings: EndpointSettings
  readonly #pool: Pool
  readonly #path: string
  readonly #warnings = new ReplyWarnings()

  constructor(settings: EndpointSettings) {
    const { provider, model, baseURL, thinkingOff, extraBody } = settings
    this.#settings = settings
    this.identity = { provider, model, options: { ...extraBody, ...thinkingOff } }
    this.#pool = new Pool(baseURL.origin, { allowH2: false })
    this.#path = `${baseURL.pathname.replace(/\/+$/, '')}/chat/completions`
  }

  async ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    const start = performance.now()
    const reply = await this.#exchange(request, signal)
    return { ...reply, durationMs: performance.now() - start }
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  async #exchange(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    const answer = await this.#send(request, signal)
    if ('kind' in answer)
      return { ...this.#failure(answer.kind, answer.message, answer.status), unsent: answer.unsent }
    if (answer.status < 200 || answer.status >= 300) return this.#refusal(answer)
    const { completion, usage, problem, error } = readCompletion(answer.body)
    // The content type is ignored: a completion that was paid for counts.
    if (completion !== undefined)
      return {
        ok: true,
        // Redacted in case the server repeats the key, which must not reach traces and recordings.
        text: this.#clean(completion.text),
        finish: completion.finish,
        warnings: this.#warnings.of(request, usage, completion.thinking),
        durationMs: 0,
        usage: usage.usage,
        servedModel: this.#clean(completion.servedModel ?? '').slice(0, maxModelName) || undefined,
      }
    // An error with status 200 counts like a 503, unless it says that the quota is spent.
    const spent = error && failureOfStatus(429, error, this.#settings.quotaIsRate)
    const kind = spent === 'quota_exhausted' ? spent : 'bad_response'
    const what = `${problem} (${answer.contentType || 'untyped'})`
    return { ...this.#failure(kind, what, answer.status), usage: usage.usage }
  }

  /** Not async: a frame that waits for the answer would keep the body in memory until it comes. */
  #send(request: ChatRequest, signal?: AbortSignal) {
    const { apiKey, baseURL, model, deadlineMs = 120_000, maxBodyBytes = 8 * 1024 * 1024 } = this.#settings
    const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
    if (apiKey !== undefined) headers.authorization = apiKey.bearerFor(baseURL.origin)
    const body = completionBody(model, this.#settings, request)
    return post(this.#pool, this.#path, headers, body, { deadlineMs, maxBodyBytes }, signal)
  }

  /** A status other than 2xx. */
  #refusal({ status, body, retryAfter }: HttpAnswer): ChatFailure {
    const error = readErrorBody(body)
    const kind = failureOfStatus(status, error, this.#settings.quotaIsRate)
    const said =
      kind === 'redirected'
        ? 'The server redirects, which is not followed: check the base URL.'
        : error.message
    return {
      ...this.#failure(kind, `HTTP ${status}${said === undefined ? '' : `: ${said}`}`, status),
      retryAfter: retryAfter && this.#clean(retryAfter).slice(0, maxRetryAfter),
      blamesRequest: (kind === 'rejected' && blamesRequest(error)) || undefined,
    }
  }

  #clean(text: string): string {
    return this.#settings.apiKey?.redact(text) ?? text
  }

  #failure(kind: FailureKind, message: string, status?: number): ChatFailure {
    return { ok: false, kind, message: presentable(this.#clean(message)), durationMs: 0, status }
  }
}

/** Makes a server's message fit for a terminal: one line, no control characters, not too long. */
function presentable(message: string): string {
  const line = message
    .slice(0, 2 * maxMessage)
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  const points = [...line]
  return points.length > maxMessage ? `${points.slice(0, maxMessage - 1).join('')}…` : points.join('').trim()
}
