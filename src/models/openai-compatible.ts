import { Pool } from 'undici'
import type {
  ChatFailure,
  ChatModel,
  ChatReply,
  ChatRequest,
  ModelIdentity,
  ReplyWarning,
} from './chat-model.ts'
import { ConstantUsage } from './constant-usage.ts'
import { type FailureKind, failureOfStatus } from './failure.ts'
import { type Exchange, type ExchangeLimits, type HttpAnswer, post } from './http-exchange.ts'
import {
  type Completion,
  completionBody,
  type Dialect,
  readCompletion,
  readErrorBody,
} from './openai-wire.ts'
import type { ApiKey } from './secret.ts'

export interface EndpointSettings extends Dialect, Partial<ExchangeLimits> {
  readonly provider: string
  readonly model: string
  /** Checked by `checkBaseURL`. */
  readonly baseURL: URL
  readonly apiKey?: ApiKey
  /** The provider answers 429 `insufficient_quota` when it means tokens per minute. */
  readonly quotaIsRate?: boolean
}

const maxMessage = 500
const maxModelName = 200
const maxRetryAfter = 100

/** Any server that speaks OpenAI's `POST {baseURL}/chat/completions`. */
export class OpenAICompatibleModel implements ChatModel {
  readonly identity: ModelIdentity
  readonly #settings: EndpointSettings
  readonly #limits: ExchangeLimits
  readonly #pool: Pool
  readonly #path: string
  readonly #constantUsage = new ConstantUsage()

  constructor(settings: EndpointSettings) {
    const { provider, model, baseURL, thinkingOff, extraBody } = settings
    this.#settings = settings
    this.#limits = {
      deadlineMs: settings.deadlineMs ?? 120_000,
      maxBodyBytes: settings.maxBodyBytes ?? 8 * 1024 * 1024,
    }
    this.identity = { provider, model, options: { ...extraBody, ...thinkingOff } }
    this.#pool = new Pool(baseURL.origin, { allowH2: false })
    this.#path = `${baseURL.pathname.replace(/\/+$/, '')}/chat/completions`
  }

  async ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    const start = performance.now()
    const { apiKey, baseURL, model } = this.#settings
    const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
    if (apiKey !== undefined) headers.authorization = apiKey.bearerFor(baseURL.origin)
    const body = completionBody(model, this.#settings, request)
    const exchange = await post(this.#pool, this.#path, headers, body, this.#limits, signal)
    return { ...this.#reply(request, exchange), durationMs: performance.now() - start }
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  #reply(request: ChatRequest, exchange: Exchange): ChatReply {
    if (!('answer' in exchange)) {
      const failure = this.#failure(exchange.kind, exchange.message, exchange.status)
      return exchange.unsent ? { ...failure, unsent: true } : failure
    }
    const { answer } = exchange
    if (answer.status < 200 || answer.status >= 300) return this.#refusal(answer)
    const reading = readCompletion(answer.body)
    // Whatever its type says: a completion that was paid for is an answer.
    if ('completion' in reading) return this.#completed(request, reading.completion)
    // An error behind a 200 is as good as one behind a 503, unless it says that the quota is spent.
    const spent = reading.error && failureOfStatus(429, reading.error, this.#settings.quotaIsRate)
    const kind = spent === 'quota_exhausted' ? spent : 'bad_response'
    const { usage } = reading.usage
    return {
      ...this.#failure(kind, `${reading.problem} (${answer.contentType || 'untyped'})`, answer.status),
      ...(usage === undefined ? {} : { usage }),
    }
  }

  #completed(request: ChatRequest, completion: Completion): ChatReply {
    const { finish, thinking } = completion
    // A server that repeats the key would otherwise put it into traces and recordings.
    const text = this.#clean(completion.text)
    const servedModel = completion.servedModel && this.#clean(completion.servedModel).slice(0, maxModelName)
    const { usage, warning } = completion.usage
    const warnings: ReplyWarning[] = []
    if (warning !== undefined) warnings.push(warning)
    if (
      usage !== undefined &&
      this.#constantUsage.observe(request.system.length + request.user.length, usage)
    )
      warnings.push('usage_constant')
    if (thinking && !request.decoding.thinking) warnings.push('thinking')
    return {
      ok: true,
      text,
      finish,
      warnings,
      durationMs: 0,
      ...(usage === undefined ? {} : { usage }),
      ...(servedModel === undefined || servedModel === '' ? {} : { servedModel }),
    }
  }

  /** A status other than 2xx. */
  #refusal({ status, body, retryAfter }: HttpAnswer): ChatFailure {
    const error = readErrorBody(body)
    const kind = failureOfStatus(status, error, this.#settings.quotaIsRate)
    const said =
      kind === 'redirected'
        ? 'The server redirects, which is not followed: check the base URL.'
        : error.message
    const failure = this.#failure(kind, `HTTP ${status}${said === undefined ? '' : `: ${said}`}`, status)
    return retryAfter === undefined
      ? failure
      : { ...failure, retryAfter: this.#clean(retryAfter).slice(0, maxRetryAfter) }
  }

  #clean(text: string): string {
    return this.#settings.apiKey?.redact(text) ?? text
  }

  #failure(kind: FailureKind, message: string, status?: number): ChatFailure {
    const clean = presentable(this.#clean(message))
    return { ok: false, kind, message: clean, durationMs: 0, ...(status === undefined ? {} : { status }) }
  }
}

/** A server's words for a person's terminal: one line, no control characters, not a novel. */
function presentable(message: string): string {
  const line = message
    .slice(0, 2 * maxMessage)
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  const points = [...line]
  return points.length > maxMessage ? `${points.slice(0, maxMessage - 1).join('')}…` : points.join('').trim()
}
