import type { JsonObject } from '../library/json-value.ts'
import type { ChatFailure, ChatModel, ChatReply, ChatRequest, ModelIdentity } from './chat-model.ts'
import { askInTime } from './deadline.ts'
import { failureOfStatus } from './failure.ts'
import { finishOf, readErrorBody } from './http/openai-wire.ts'
import { ReplyWarnings } from './reply-warnings.ts'
import { redactLikelyKeys } from './secret.ts'
import { checkUsage } from './usage.ts'

/** The part of an AI SDK language model that we use; `LanguageModelV2`, `V3` and `V4` of `@ai-sdk/provider` all have it. */
export interface LanguageModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doGenerate(options: GenerateOptions): PromiseLike<GenerateResult>
}

interface GenerateOptions {
  prompt: [{ role: 'system'; content: string }, { role: 'user'; content: { type: 'text'; text: string }[] }]
  temperature: number
  maxOutputTokens: number
  responseFormat: { type: 'text' } | { type: 'json' }
  abortSignal: AbortSignal
  providerOptions?: ProviderOptions
}

type ProviderOptions = Record<string, Record<string, MutableJson>>

/** The SDK's JSON type is mutable, ours is not; nobody changes the value. */
type MutableJson = null | string | number | boolean | MutableJson[] | { [key: string]: MutableJson }

interface GenerateResult {
  readonly content: readonly { readonly type: string }[]
  readonly finishReason: string | { readonly unified: string }
  readonly usage: { readonly inputTokens?: TokenCount; readonly outputTokens?: TokenCount }
  readonly response?: { readonly modelId?: string }
}

/** A number in version 2, with its parts in other fields; an object with parts since then. */
type TokenCount = number | undefined | Readonly<{ total?: number; cacheRead?: number; reasoning?: number }>

/**
 * Turns any AI SDK language model into a chat model. `doGenerate` bypasses the SDK's own retries. `providerOptions`
 * are passed on unchanged: models before version 4 have no other switch for thinking.
 */
export function fromLanguageModel(
  model: LanguageModel,
  { providerOptions, deadlineMs = 120_000 }: { providerOptions?: JsonObject; deadlineMs?: number } = {},
): ChatModel {
  const identity: ModelIdentity = {
    provider: model.provider,
    model: model.modelId,
    options: providerOptions ?? {},
  }
  const warnings = new ReplyWarnings()
  const generate = async (request: ChatRequest, abortSignal: AbortSignal) => {
    const { decoding } = request
    const result = await model.doGenerate({
      prompt: [
        { role: 'system', content: request.system },
        { role: 'user', content: [{ type: 'text', text: request.user }] },
      ],
      temperature: decoding.temperature,
      maxOutputTokens: decoding.maxOutputTokens,
      responseFormat: { type: decoding.json ? 'json' : 'text' },
      abortSignal,
      ...(model.specificationVersion === 'v4' && !decoding.thinking ? { reasoning: 'none' } : {}),
      providerOptions: providerOptions as ProviderOptions | undefined,
    })
    return readResult(request, result, warnings)
  }
  return {
    identity,
    async ask(request, signal) {
      const start = performance.now()
      const reply = await askInTime(deadlineMs, signal, (until) => generate(request, until).catch(readError))
      return { ...reply, durationMs: performance.now() - start }
    },
  }
}

function readResult(request: ChatRequest, result: GenerateResult, warnings: ReplyWarnings): ChatReply {
  const { content, finishReason, response } = result
  const said = (type: string) =>
    content.flatMap((part) => (part.type === type ? [(part as { text?: string }).text ?? ''] : [])).join('')
  const { reasoning, ...usage } = readUsage(result.usage)
  const text = said('text')
  const thinking = said('reasoning').trim() !== '' || reasoning > 0 || text.trimStart().startsWith('<think>')
  return {
    ok: true,
    text,
    finish: finishOf(typeof finishReason === 'string' ? finishReason : finishReason.unified),
    warnings: warnings.of(request, usage, thinking),
    durationMs: 0,
    usage: usage.usage,
    servedModel: response?.modelId,
  }
}

function readUsage(usage: GenerateResult['usage']) {
  const { inputTokens, outputTokens } = usage
  const beside = usage as { cachedInputTokens?: number; reasoningTokens?: number }
  const input =
    typeof inputTokens === 'object'
      ? inputTokens
      : { total: inputTokens, cacheRead: beside.cachedInputTokens }
  const output =
    typeof outputTokens === 'object'
      ? outputTokens
      : { total: outputTokens, reasoning: beside.reasoningTokens }
  return { ...checkUsage(input.total, input.cacheRead, output.total), reasoning: output.reasoning ?? 0 }
}

/** What the SDK's `APICallError` carries. */
interface CallError extends Error {
  readonly statusCode?: number
  readonly responseBody?: string
  readonly responseHeaders?: Readonly<Record<string, string>>
}

/** An error without an HTTP status is a failed connection. */
function readError(error: unknown): ChatFailure {
  const { name, message, statusCode, responseBody, responseHeaders } = (error ?? {}) as Partial<CallError>
  // The SDK holds the key, so we can only redact what looks like one.
  const text = redactLikelyKeys(String(message ?? error)).slice(0, 500)
  // A missing key will not fix itself: no call can succeed until somebody acts.
  if (/LoadAPIKeyError|LoadSettingError/.test(String(name))) return failure('unauthorized', text)
  if (statusCode === undefined) return failure('network', text)
  // The SDK also throws for a 2xx body it cannot read.
  const kind =
    statusCode < 300 ? 'bad_response' : failureOfStatus(statusCode, readErrorBody(responseBody ?? ''))
  const retryAfter = responseHeaders?.['retry-after']
  return { ...failure(kind, `HTTP ${statusCode}: ${text}`), status: statusCode, retryAfter }
}

function failure(kind: ChatFailure['kind'], message: string): ChatFailure {
  return { ok: false, kind, message, durationMs: 0 }
}
