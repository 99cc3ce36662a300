// The server's side of OpenAI's chat completions: what `openai-wire.ts` is for the client.
import { type ChatRequest, paperDecoding } from '../../execution/models/chat-model.ts'
import { field } from '../model/node-request.ts'
import { type SimulatedCompletion, simulatedModelName, simulatorVersion } from '../model/simulator.ts'

/** A request body that can be answered, or what is wrong with it. */
export type BodyReading =
  | { readonly request: ChatRequest; readonly seed?: number }
  | { readonly problem: string; readonly parameter: string | null }

/** Takes what OpenAI's endpoint takes, but for streams and several choices. Unknown fields are ignored, as there. */
export function readBody(body: string): BodyReading {
  const json = parse(body)
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return { problem: 'The body is not a JSON object.', parameter: null }
  const model = field(json, 'model')
  if (typeof model !== 'string' || model === '')
    return { problem: 'You must provide a model parameter.', parameter: 'model' }
  if (field(json, 'stream') === true)
    return { problem: 'The simulated model does not stream: send stream: false.', parameter: 'stream' }
  if (![undefined, null, 1].includes(field(json, 'n') as undefined))
    return { problem: 'The simulated model gives one choice: send n: 1.', parameter: 'n' }
  const messages = field(json, 'messages')
  if (!Array.isArray(messages) || messages.length === 0)
    return { problem: 'messages must be a list with at least one message.', parameter: 'messages' }
  const limit =
    field(json, 'max_completion_tokens') ?? field(json, 'max_tokens') ?? paperDecoding.maxOutputTokens
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1)
    return { problem: 'max_tokens must be a positive integer.', parameter: 'max_tokens' }
  const seed = field(json, 'seed')
  return {
    request: {
      system: textsOf(messages, (role) => role === 'system' || role === 'developer'),
      user: textsOf(messages, (role) => role === 'user'),
      decoding: {
        ...paperDecoding,
        maxOutputTokens: limit,
        json: field(field(json, 'response_format'), 'type') === 'json_object',
      },
    },
    ...(Number.isSafeInteger(seed) ? { seed: seed as number } : {}),
  }
}

function textsOf(messages: readonly unknown[], isWanted: (role: unknown) => boolean): string {
  return messages
    .filter((message) => isWanted(field(message, 'role')))
    .map((message) => contentOf(field(message, 'content')))
    .join('\n')
}

/** Content is text, or a list of parts of which the text ones count. */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part) => field(part, 'text'))
    .filter((text) => typeof text === 'string')
    .join('')
}

/** The same bytes for the same request, so neither a clock nor a random id is in it. */
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

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
