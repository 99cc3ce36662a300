import { randomUUID } from 'node:crypto'
import type { Spent } from '../store/budget.ts'
import type { Admission } from './admission.ts'
import {
  type Answered,
  type AnswerProgress,
  answer,
  type Organised,
  type ServedPolicy,
  Unanswered,
} from './answer.ts'
import type { ChatRequestBody } from './chat-request.ts'
import {
  answerChunks,
  type CompletionHead,
  completion,
  openingChunk,
  progressChunk,
  serverSentEvent,
} from './completion.ts'
import type { Metrics } from './metrics.ts'
import { internalError, Refusal } from './refusal.ts'
import { CapReached, type Spending } from './spending.ts'

/** A policy offered to clients, with its caps. */
export interface Offered extends ServedPolicy {
  readonly spending: Spending
}

export interface Answering {
  readonly admission: Admission
  readonly metrics: Metrics
  /** Writes a log line. It contains no questions or answers unless `logPrompts` is on. */
  readonly log: (entry: Readonly<Record<string, unknown>>) => void
  readonly logPrompts?: boolean
}

interface Asked {
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
  /** Fields of the request's log line. */
  readonly noted: Record<string, unknown>
}

/** A whole completion, or a stream of chunks and a promise of its end. */
type Completed =
  | { readonly completion: object }
  | { readonly stream: Response; readonly ended: Promise<void> }

/** Answers a request when its turn comes. */
export async function complete(
  server: Answering,
  policy: Offered,
  { question, stream, includeUsage }: ChatRequestBody,
  { signal, noted }: Asked,
): Promise<Completed> {
  const trace = randomUUID()
  const head = { id: `chatcmpl-${trace}`, created: Math.floor(Date.now() / 1000), model: policy.id }
  Object.assign(noted, { model: policy.id, trace, stream })
  const release = await server.admission.enter(signal)
  const start = performance.now()
  const run = async (onProgress?: (progress: AnswerProgress) => void): Promise<Answered> => {
    try {
      const meter = policy.spending.requestMeter()
      const answered = await answer(policy, question, { id: trace, signal, meter, onProgress })
      note(server, noted, answered.magic)
      if (server.logPrompts)
        Object.assign(noted, { question: question.task.question, answer: answered.content })
      return answered
    } catch (error) {
      if (error instanceof Unanswered) note(server, noted, error.magic)
      if (error instanceof CapReached) noteCalls(server, noted, policy.id, error.spent)
      throw error
    } finally {
      release()
      server.metrics.countAnswer((performance.now() - start) / 1000)
    }
  }
  if (!stream) return { completion: completion(head, await run()) }
  return streamed(server, head, includeUsage, run)
}

function note(server: Answering, noted: Asked['noted'], magic: Organised): void {
  const { run, key, usage, cost, status } = magic
  Object.assign(noted, { outcome: status, graph: key })
  noteCalls(server, noted, run, { ...usage, cost })
}

function noteCalls({ metrics }: Answering, noted: Asked['noted'], run: string, used: UsedCalls): void {
  const { calls, input, output, cost } = used
  metrics.countCalls(run, used, cost)
  Object.assign(noted, { calls, tokens: input + output, cost })
}

type UsedCalls = Pick<Spent, 'calls' | 'input' | 'output' | 'cost'>

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // Stops proxies such as nginx from buffering the stream.
  'x-accel-buffering': 'no',
}

/** Streams progress, then the answer. Errors after the first byte are sent in the stream. */
function streamed(
  { log }: Answering,
  head: CompletionHead,
  includeUsage: boolean,
  run: (onProgress: (progress: AnswerProgress) => void) => Promise<Answered>,
): Completed {
  const bytes = new TextEncoder()
  let isOpen = true
  let ended: Promise<void> | undefined
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (data: object | '[DONE]') => {
        if (isOpen) controller.enqueue(bytes.encode(serverSentEvent(data)))
      }
      send(openingChunk(head))
      ended = run((progress) => send(progressChunk(head, progress)))
        .then((answered) => {
          for (const chunk of answerChunks(head, answered, includeUsage)) send(chunk)
          send('[DONE]')
        })
        .catch((error: unknown) => {
          if (!(error instanceof Refusal))
            log({ event: 'error', error: (error as Error).stack ?? String(error) })
          send((error instanceof Refusal ? error : internalError()).body)
        })
        .finally(() => {
          if (isOpen) controller.close()
        })
    },
    /** The client disconnected; the connection's signal cancels the calls. */
    cancel() {
      isOpen = false
    },
  })
  return { stream: new Response(body, { headers: streamHeaders }), ended: ended! }
}
