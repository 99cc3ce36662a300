import type { JSONValue } from '@ai-sdk/provider'
import type { JsonObject } from '../library/json-value.ts'
import type {
  ChatFailure,
  ChatModel,
  ChatReply,
  ChatRequest,
  ModelIdentity,
  ReplyWarning,
} from './chat-model.ts'
import { ConstantUsage } from './constant-usage.ts'
import { failureOfStatus } from './failure.ts'
import { readErrorBody } from './openai-wire.ts'
import { redactLikelyKeys } from './secret.ts'
import { checkUsage, type UsageReading } from './usage.ts'

/** What we use of a language model of the AI SDK; `LanguageModelV2`, `V3` and `V4` of `@ai-sdk/provider` all have it. */
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

/** The SDK's own JSON type is mutable, ours is not; nobody changes it. */
type ProviderOptions = Record<string, Record<string, JSONValue>>

interface GenerateResult {
  readonly content: readonly { readonly type: string }[]
  readonly finishReason: string | { readonly unified: string }
  readonly usage: { readonly inputTokens?: TokenCount; readonly outputTokens?: TokenCount }
  readonly response?: { readonly modelId?: string }
}

/** A number in version 2; since then an object that splits it. */
type TokenCount =
  | number
  | undefined
  | {
      readonly total?: number | undefined
      readonly cacheRead?: number | undefined
      readonly reasoning?: number | undefined
    }

export interface LanguageModelOptions {
  /** Passed on as they are; where thinking is switched off for models before version 4, which have a setting for it. */
  readonly providerOptions?: JsonObject
  readonly deadlineMs?: number
}

/** Makes any AI SDK language model a chat model. `doGenerate` is below the SDK's own retries, so there are none. */
export function fromLanguageModel(model: LanguageModel, options: LanguageModelOptions = {}): ChatModel {
  const { providerOptions, deadlineMs = 120_000 } = options
  const identity: ModelIdentity = {
    provider: model.provider,
    model: model.modelId,
    options: providerOptions ?? {},
  }
  const constantUsage = new ConstantUsage()
  return {
    identity,
    async ask(request, signal) {
      const start = performance.now()
      const reply = await withDeadline(deadlineMs, signal, async (abortSignal) => {
        const result = await model.doGenerate({
          prompt: [
            { role: 'system', content: request.system },
            { role: 'user', content: [{ type: 'text', text: request.user }] },
          ],
          temperature: request.decoding.temperature,
          maxOutputTokens: request.decoding.maxOutputTokens,
          responseFormat: { type: request.decoding.json ? 'json' : 'text' },
          abortSignal,
          ...(model.specificationVersion === 'v4' && !request.decoding.thinking ? { reasoning: 'none' } : {}),
          ...(providerOptions === undefined ? {} : { providerOptions: providerOptions as ProviderOptions }),
        })
        return readResult(request, result, constantUsage)
      })
      return { ...reply, durationMs: performance.now() - start }
    },
  }
}

/** Ends at the deadline or the caller's signal even if the model heeds neither. */
async function withDeadline(
  deadlineMs: number,
  signal: AbortSignal | undefined,
  ask: (signal: AbortSignal) => Promise<ChatReply>,
): Promise<ChatReply> {
  if (signal?.aborted === true) return failure('cancelled', 'The call was cancelled.')
  const abort = new AbortController()
  const ended = Promise.withResolvers<ChatFailure>()
  const cancel = () => end('cancelled', 'The call was cancelled.')
  const end = (kind: 'timeout' | 'cancelled', message: string) => {
    ended.resolve(failure(kind, message))
    abort.abort()
  }
  const timer = setTimeout(
    () => end('timeout', `No complete answer within ${deadlineMs / 1000} s.`),
    deadlineMs,
  )
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    return await Promise.race([ended.promise, ask(abort.signal).catch(readError)])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
  }
}

function readResult(request: ChatRequest, result: GenerateResult, constantUsage: ConstantUsage): ChatReply {
  const { content, finishReason, response } = result
  const said = (type: string) =>
    content.flatMap((part) => (part.type === type ? [(part as { text?: string }).text ?? ''] : [])).join('')
  const { usage, warning } = readUsage(result)
  const warnings: ReplyWarning[] = warning === undefined ? [] : [warning]
  if (usage !== undefined && constantUsage.observe(request.system.length + request.user.length, usage)) {
    warnings.push('usage_constant')
  }
  const thought =
    said('reasoning').trim() !== '' ||
    reasoningTokens(result) > 0 ||
    said('text').trimStart().startsWith('<think>')
  if (thought && !request.decoding.thinking) warnings.push('thinking')
  return {
    ok: true,
    text: said('text'),
    finish: finishOf(typeof finishReason === 'string' ? finishReason : finishReason.unified),
    warnings,
    durationMs: 0,
    ...(usage === undefined ? {} : { usage }),
    ...(response?.modelId === undefined ? {} : { servedModel: response.modelId }),
  }
}

function readUsage({ usage }: GenerateResult): UsageReading {
  const { inputTokens, outputTokens } = usage
  const total = (count: TokenCount) => (typeof count === 'object' ? count.total : count)
  const cached =
    typeof inputTokens === 'object'
      ? inputTokens.cacheRead
      : (usage as { cachedInputTokens?: number }).cachedInputTokens
  return checkUsage(total(inputTokens), cached, total(outputTokens))
}

function reasoningTokens({ usage }: GenerateResult): number {
  const { outputTokens } = usage
  const tokens =
    typeof outputTokens === 'object'
      ? outputTokens.reasoning
      : (usage as { reasoningTokens?: number }).reasoningTokens
  return tokens ?? 0
}

function finishOf(reason: string): 'stop' | 'length' | 'filter' | 'other' {
  if (reason === 'stop' || reason === 'length') return reason
  return reason === 'content-filter' ? 'filter' : 'other'
}

/** The SDK's `APICallError` carries the HTTP status; anything else is a failed connection. */
function readError(error: unknown): ChatFailure {
  const { name, message, statusCode, responseBody, responseHeaders } = (error ?? {}) as {
    name?: string
    message?: string
    statusCode?: number
    responseBody?: string
    responseHeaders?: Record<string, string>
  }
  // The key is the SDK's, so it cannot be struck out by name.
  const text = redactLikelyKeys(String(message ?? error)).slice(0, 500)
  // A key that is not set is no passing fault: no other call can succeed before a person has acted.
  if (/LoadAPIKeyError|LoadSettingError/.test(String(name))) return failure('unauthorized', text)
  if (statusCode === undefined) return failure('network', text)
  // The SDK throws for a 2xx body that it cannot read, too.
  const kind =
    statusCode < 300 ? 'bad_response' : failureOfStatus(statusCode, readErrorBody(responseBody ?? ''))
  const retryAfter = responseHeaders?.['retry-after']
  return {
    ...failure(kind, `HTTP ${statusCode}: ${text}`),
    status: statusCode,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  }
}

function failure(kind: ChatFailure['kind'], message: string): ChatFailure {
  return { ok: false, kind, message, durationMs: 0 }
}
