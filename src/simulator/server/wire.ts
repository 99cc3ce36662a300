// The server's side of OpenAI's chat completions; `openai-wire.ts` is the client's.
import { type ChatRequest, paperDecoding } from '../../models/chat-model.ts'
import { simulatedModelName } from '../model/simulated-name.ts'
import { type SimulatedCompletion, simulatorVersion } from '../model/simulator.ts'

/** A valid request body, or what is wrong with it. */
export type BodyReading =
  | { readonly request: ChatRequest; readonly seed: number | undefined }
  | { readonly problem: string; readonly parameter: string | null }

/** Accepts what OpenAI's endpoint accepts, except streams and several choices. Unknown fields are ignored. */
export function readBody(text: string): BodyReading {
  const body = objectIn(text)
  if (body === undefined) return { problem: 'The body is not a JSON object.', parameter: null }
  const { model, stream, n, messages, seed } = body
  if (typeof model !== 'string' || model === '')
    return { problem: 'You must provide a model parameter.', parameter: 'model' }
  if (stream === true)
    return { problem: 'The simulated model does not stream: send stream: false.', parameter: 'stream' }
  if (n !== undefined && n !== null && n !== 1)
    return { problem: 'The simulated model gives one choice: send n: 1.', parameter: 'n' }
  if (!Array.isArray(messages) || messages.length === 0)
    return { problem: 'messages must be a list with at least one message.', parameter: 'messages' }
  const limit = body.max_completion_tokens ?? body.max_tokens ?? paperDecoding.maxOutputTokens
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1)
    return { problem: 'max_tokens must be a positive integer.', parameter: 'max_tokens' }
  const format = body.response_format as { type?: unknown } | null | undefined
  return {
    request: {
      system: textOf(messages, ['system', 'developer']),
      user: textOf(messages, ['user']),
      decoding: { ...paperDecoding, maxOutputTokens: limit, json: format?.type === 'json_object' },
    },
    seed: Number.isSafeInteger(seed) ? (seed as number) : undefined,
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

interface WireMessage {
  readonly role?: unknown
  readonly content?: unknown
}

function textOf(messages: readonly (WireMessage | null)[], roles: readonly unknown[]): string {
  return messages
    .filter((message) => roles.includes(message?.role))
    .map((message) => contentOf(message?.content))
    .join('\n')
}

/** Content is text, or a list of parts, of which only text parts count. */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: { text?: unknown } | null) => part?.text)
    .filter((text) => typeof text === 'string')
    .join('')
}

/** The same bytes for the same request, so it contains no time and no random id. */
export function completionJson({ text, finish, usage }: SimulatedCompletion, digest: string): string {
  const { input, cachedInput, output } = usage
  return JSON.stringify({
    id: `chatcmpl-simulated-${digest.slice(0, 24)}`,
    object: 'chat.completion',
    created: 0,
    model: simulatedModelName,
    system_fingerprint: `simulated-v${simulatorVersion}`,
    choices: [
      { index: 0, message: { role: 'assistant', content: text }, logprobs: null, finish_reason: finish },
    ],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cachedInput },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  })
}

export const modelsJson = JSON.stringify({
  object: 'list',
  data: [{ id: simulatedModelName, object: 'model', created: 0, owned_by: 'simulated' }],
})

export function errorJson(message: string, type: string, parameter: string | null = null): string {
  return JSON.stringify({ error: { message, type, param: parameter, code: null } })
}
