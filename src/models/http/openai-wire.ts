import type { JsonObject } from '../../library/json-value.ts'
import type { ChatAnswer, ChatRequest } from '../chat-model.ts'
import type { ServerError } from '../failure.ts'
import { checkUsage, type UsageReading } from '../usage.ts'

/** How a provider's dialect differs from plain OpenAI chat completions. */
export interface Dialect {
  /** Request fields that switch thinking off. */
  readonly thinkingOff: JsonObject
  /** Default: `max_tokens`. */
  readonly outputLimit?: 'max_tokens' | 'max_completion_tokens'
  /** Any other request fields, from the user's settings. */
  readonly extraBody?: JsonObject
}

/** The request body. Texts of tasks and models only occur as values. */
export function completionBody(
  model: string,
  dialect: Dialect,
  { system, user, decoding }: ChatRequest,
): string {
  return JSON.stringify({
    ...dialect.extraBody,
    ...(decoding.thinking ? {} : dialect.thinkingOff),
    ...(decoding.json ? { response_format: { type: 'json_object' } } : {}),
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    temperature: decoding.temperature,
    [dialect.outputLimit ?? 'max_tokens']: decoding.maxOutputTokens,
    stream: false,
  })
}

/** The content of a 2xx body: a completion, or why it is none. */
export interface CompletionReading {
  readonly usage: UsageReading
  readonly completion?: Pick<ChatAnswer, 'text' | 'finish' | 'servedModel'> & { readonly thinking: boolean }
  readonly problem?: string
  readonly error?: ServerError
}

/** Reads the body of a 2xx answer, which may still be an error or no completion at all. Never throws. */
export function readCompletion(body: string): CompletionReading {
  const json = parse(body)
  const usage = readUsage(field(json, 'usage'))
  const error = readError(json)
  if (error !== undefined) return { problem: error.message ?? 'an error without a message', error, usage }
  const choices = field(json, 'choices')
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  const message = field(choice, 'message')
  const content = field(message, 'content')
  if (field(choice, 'finish_reason') === 'error')
    return { problem: readError(choice)?.message ?? 'The model broke off with an error.', usage }
  // Some servers send `null` if nothing was generated; then the model failed, not the transport.
  if (typeof content !== 'string' && content !== null)
    return { problem: 'The body is no chat completion.', usage }
  const text = content ?? ''
  const servedModel = field(json, 'model')
  const completion = {
    text,
    finish: finishOf(field(choice, 'finish_reason')),
    servedModel: typeof servedModel === 'string' ? servedModel : undefined,
    thinking: showsThinking(message, text, field(json, 'usage')),
  }
  return { completion, usage }
}

/**
 * The error in a body, if there is one: `{error: {message, code, type}}`, `{error: "text"}`, `{message, code}` or
 * `{detail}`. Some servers and most proxies answer with plain text or an HTML page.
 */
export function readErrorBody(body: string): ServerError {
  const json = parse(body)
  if (json === undefined) {
    const page = body.slice(0, 4000).replace(/<[^<>]*>/g, ' ')
    return { message: page.replace(/\s+/g, ' ').trim() || undefined }
  }
  const error = readError(json) ?? strings(json)
  const detail = field(json, 'detail')
  if (error.message !== undefined || detail === undefined) return error
  return { ...error, message: typeof detail === 'string' ? detail : JSON.stringify(detail) }
}

function readError(json: unknown): ServerError | undefined {
  const error = field(json, 'error')
  if (typeof error === 'string') return { message: error }
  return typeof error === 'object' && error !== null ? strings(error) : undefined
}

function strings(error: unknown): ServerError {
  const text = (name: string) => {
    const value = field(error, name)
    return typeof value === 'string' ? value : undefined
  }
  return { message: text('message'), code: text('code'), type: text('type') }
}

/** OpenAI says `content_filter`, the AI SDK `content-filter`. */
export function finishOf(reason: unknown): ChatAnswer['finish'] {
  if (reason === 'stop' || reason === 'length') return reason
  return reason === 'content_filter' || reason === 'content-filter' ? 'filter' : 'other'
}

function showsThinking(message: unknown, text: string, usage: unknown): boolean {
  const reasoning = [field(message, 'reasoning_content'), field(message, 'reasoning')]
  const tokens = field(field(usage, 'completion_tokens_details'), 'reasoning_tokens')
  return (
    reasoning.some((said) => typeof said === 'string' && said.trim() !== '') ||
    (typeof tokens === 'number' && tokens > 0) ||
    text.trimStart().startsWith('<think>')
  )
}

/** DeepSeek has its own name for cache hits; the others follow OpenAI. */
function readUsage(usage: unknown): UsageReading {
  const cached =
    field(field(usage, 'prompt_tokens_details'), 'cached_tokens') ?? field(usage, 'prompt_cache_hit_tokens')
  return checkUsage(field(usage, 'prompt_tokens'), cached, field(usage, 'completion_tokens'))
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** Own fields only, so that a `__proto__` in the body has no effect. */
function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}
