// Completions in OpenAI's format, whole or as chunks of a stream.
import type { Usage } from '../models/usage.ts'
import type { Answered, AnswerProgress } from './answer.ts'

export interface CompletionHead {
  readonly id: string
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
}

export function completion(head: CompletionHead, { content, magic }: Answered): object {
  const message = { role: 'assistant', content, refusal: null }
  return {
    ...{ ...head, object: 'chat.completion' },
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: usageOf(magic.usage),
    magic,
  }
}

/** Sum over all calls made for an answer. */
function usageOf({ input, cachedInput, output }: Usage): object {
  return {
    ...{ prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    prompt_tokens_details: { cached_tokens: cachedInput },
  }
}

type Chunk = (choices: readonly object[], more?: object) => object

function chunkOf(head: CompletionHead): Chunk {
  return (choices, more = {}) => ({ ...head, object: 'chat.completion.chunk', choices, ...more })
}

const delta = (part: object, finish: 'stop' | null = null) => [
  { index: 0, delta: part, logprobs: null, finish_reason: finish },
]

export function openingChunk(head: CompletionHead): object {
  return chunkOf(head)(delta({ role: 'assistant', content: '' }))
}

/** Has no choices, so clients that do not know the extension skip it. */
export function progressChunk(head: CompletionHead, progress: AnswerProgress): object {
  return chunkOf(head)([], { magic: { progress } })
}

export function answerChunks(
  head: CompletionHead,
  { content, magic }: Answered,
  includeUsage: boolean,
): object[] {
  const chunk = chunkOf(head)
  return [
    chunk(delta({ content })),
    chunk(delta({}, 'stop'), { magic }),
    ...(includeUsage ? [chunk([], { usage: usageOf(magic.usage) })] : []),
  ]
}

export function serverSentEvent(data: object | '[DONE]'): string {
  return `data: ${data === '[DONE]' ? data : JSON.stringify(data)}\n\n`
}
