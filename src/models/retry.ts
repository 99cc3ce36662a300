import { type CallLimit, processCallLimit } from './call-limit.ts'
import { type Canary, erratic } from './canary.ts'
import {
  type ChatFailure,
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  cancelled,
} from './chat-model.ts'
import { type Clock, systemClock } from './clock.ts'
import { askInTime } from './deadline.ts'
import { isRetryable } from './failure.ts'
import { type Usage, usageOfCall } from './usage.ts'

/** The paper's: at most four attempts, 1, 2 and 4 s apart. */
const paperWaits: readonly number[] = [1000, 2000, 4000]

/** A longer `Retry-After` is taken for a mistake. */
const maxRetryAfter = 60_000

export interface CallOptions {
  readonly limit?: CallLimit
  /** When calls queue up, the highest goes first. */
  readonly priority?: number
  readonly signal?: AbortSignal
  readonly clock?: Clock
  /** Ends an attempt even if the model's client waits for ever. The time in the queue does not count. */
  readonly attemptMs?: number
  readonly waits?: readonly number[]
  /** With it, a rejection counts only once all attempts and the canary confirm it. */
  readonly canary?: Canary
  /** Requests of the same kind about other questions, for the canary. */
  readonly ordinary?: Iterable<ChatRequest>
}

/** A call with all its attempts. `reply` is the last one's. */
export interface Call {
  readonly reply: ChatReply
  readonly attempts: readonly Attempt[]
  readonly usage: Usage
}

interface Attempt {
  readonly reply: ChatReply
  /** Milliseconds since 1970. */
  readonly startedAt: number
}

/**
 * Asks a model, again if the transport failed, and at once if a rejection is to be confirmed. A slot of the limit is held
 * during an attempt and given back while waiting for the next.
 */
export async function callModel(
  model: ChatModel,
  request: ChatRequest,
  options: CallOptions = {},
): Promise<Call> {
  const { limit = processCallLimit, priority = 0, signal, clock = systemClock, waits = paperWaits } = options
  const { canary, ordinary = [], attemptMs } = options
  // Twice as many as other failures get: an endpoint that rejects at random must not be believed, and rejections are free.
  const confirmations = 2 * (waits.length + 1)
  const ask = (asked: ChatRequest) =>
    attemptMs === undefined
      ? model.ask(asked, signal)
      : askInTime(attemptMs, signal, (until) => model.ask(asked, until), clock)
  const attempts: Attempt[] = []
  const done = (reply: ChatReply): Call => ({
    reply,
    attempts,
    usage: usageOfCall(attempts.map((attempt) => attempt.reply)),
  })
  for (;;) {
    const release = await limit.acquire(priority, signal)
    if (release === undefined) return done(cancelled)
    const startedAt = clock.now()
    const wasRejected = attempts.some(isRejected)
    const isLastConfirmation = attempts.length + 1 === confirmations
    let reply: ChatReply
    try {
      reply = await ask(request)
      if (canary !== undefined && (!wasRejected || isLastConfirmation))
        reply = await canary.judge(request, reply, ask, ordinary, signal)
    } finally {
      release()
    }
    attempts.push({ reply, startedAt })
    if (reply.ok && wasRejected) canary?.doubt()
    const wait = waits[attempts.length - 1]
    if (canary !== undefined && isRejected({ reply })) {
      if (attempts.length < confirmations && !(reply as ChatFailure).blamesRequest) continue
      return done(attempts.every(isRejected) ? reply : erratic(reply as ChatFailure))
    }
    if (reply.ok || wait === undefined || !isRetryable(reply.kind)) return done(reply)
    await clock.sleep(readRetryAfter(reply.retryAfter, clock.now()) ?? wait, signal)
    if (signal?.aborted === true) return done(cancelled)
  }
}

function isRejected({ reply }: Pick<Attempt, 'reply'>): boolean {
  return !reply.ok && reply.kind === 'rejected'
}

/** Milliseconds to wait: `Retry-After` in seconds or as a date. Beyond 0 to 60 s, or unreadable, it is ignored. */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  const ms = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) * 1000 : dateOf(text) - now
  return ms >= 0 && ms <= maxRetryAfter ? ms : undefined
}

/** Only the form that HTTP prescribes: `Date.parse` alone would read much more as a date. */
function dateOf(text: string): number {
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)
    ? Date.parse(text)
    : Number.NaN
}
