import { type CallLimit, processCallLimit } from './call-limit.ts'
import { type Canary, erratic } from './canary.ts'
import {
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  cancelled,
  type ModelIdentity,
} from './chat-model.ts'
import { type Clock, systemClock } from './clock.ts'
import { askInTime } from './deadline.ts'
import { isRetryable } from './failure.ts'
import { noUsage, type Usage, usageOfCall } from './usage.ts'

/** As in the paper: at most four attempts, 1, 2 and 4 s apart. */
const waits: readonly number[] = [1000, 2000, 4000]

/**
 * More attempts than for other failures: an endpoint that rejects at random must not be believed, and rejections are
 * free.
 */
const confirmations = 8

/** A longer `Retry-After` is considered a mistake. */
const maxRetryAfter = 60_000

/** Counts every attempt: called before it, and with its reply afterwards. */
export interface Meter {
  /** `model` is the one that gets the request. */
  reserve(request: ChatRequest, model?: ModelIdentity): (reply: ChatReply) => void
}

/** Decides when an attempt may be made, for everyone who calls the same model or shares a budget. */
export interface Allowance {
  /**
   * Resolves once the attempt may be made, to a function that must get its reply; to undefined if the signal aborts
   * first. Throws if a cap forbids it. The wait does not count towards the attempt's time.
   */
  admit(
    request: ChatRequest,
    signal?: AbortSignal,
    model?: ModelIdentity,
  ): Promise<((reply: ChatReply) => void) | undefined>
}

export interface CallOptions {
  readonly limit?: CallLimit
  /** When calls queue up, the highest priority goes first. */
  readonly priority?: number
  readonly signal?: AbortSignal
  readonly clock?: Clock
  /** Ends an attempt even if the model's client hangs. Time in the queue does not count. */
  readonly attemptMs?: number
  readonly meter?: Meter
  readonly allowance?: Allowance
  /** If given, a rejection counts only once all attempts and the canary confirm it. */
  readonly canary?: Canary
  /** Requests of the same kind about other questions, for the canary. */
  readonly ordinary?: () => Iterable<ChatRequest>
}

/** A call with all its attempts. `reply` is the last attempt's. */
export interface Call {
  readonly reply: ChatReply
  /** Starts are milliseconds since 1970. */
  readonly attempts: readonly { readonly reply: ChatReply; readonly startedAt: number }[]
  readonly usage: Usage
}

/** A call that was not made because its reply is known. */
export function withoutAttempts(reply: ChatReply): Call {
  return { reply, attempts: [], usage: noUsage }
}

/**
 * Calls a model: retries after transport failures, and immediately to confirm a rejection. It holds a slot of the
 * limit during an attempt and gives it back while waiting for the next.
 */
export async function callModel(
  model: ChatModel,
  request: ChatRequest,
  options: CallOptions = {},
): Promise<Call> {
  const { limit = processCallLimit, priority, signal, clock = systemClock, canary, ordinary } = options
  const ask = (asked: ChatRequest) => attempt(model, asked, options)
  const attempts: Call['attempts'][number][] = []
  const done = (reply: ChatReply): Call => ({
    reply,
    attempts,
    usage: usageOfCall(attempts),
  })
  for (;;) {
    const release = limit.takeFree(signal) ?? (await limit.acquire(priority, signal))
    if (release === undefined) return done(cancelled)
    const startedAt = clock.now()
    const wasRejected = attempts.some(({ reply }) => isRejected(reply))
    const isLastConfirmation = attempts.length + 1 === confirmations
    let reply: ChatReply
    try {
      reply = await ask(request)
      if (canary !== undefined && (!wasRejected || isLastConfirmation)) {
        if (reply.ok) canary.noteAnswer(request)
        else reply = await canary.judge(request, reply, ask, ordinary, signal)
      }
    } finally {
      release()
    }
    attempts.push({ reply, startedAt })
    if (reply.ok && wasRejected) canary?.doubt()
    if (reply.ok) return done(reply)
    if (canary !== undefined && reply.kind === 'rejected') {
      if (attempts.length < confirmations && !reply.blamesRequest) continue
      return done(attempts.every(({ reply: said }) => isRejected(said)) ? reply : erratic(reply))
    }
    const wait = waits[attempts.length - 1]
    if (wait === undefined || !isRetryable(reply.kind)) return done(reply)
    await clock.sleep(readRetryAfter(reply.retryAfter, clock.now()) ?? wait, signal)
    if (signal?.aborted === true) return done(cancelled)
  }
}

function attempt(model: ChatModel, request: ChatRequest, options: CallOptions): Promise<ChatReply> {
  const { allowance } = options
  return allowance === undefined
    ? timedAttempt(model, request, options)
    : admittedAttempt(model, request, options, allowance)
}

/** One attempt, once the allowance permits it. */
async function admittedAttempt(
  model: ChatModel,
  request: ChatRequest,
  options: CallOptions,
  allowance: Allowance,
): Promise<ChatReply> {
  const { signal } = options
  const settle = await allowance.admit(request, signal, model.identity)
  if (settle === undefined) return cancelled
  let reply = clientFailed
  try {
    reply = await timedAttempt(model, request, options)
    return reply
  } finally {
    settle(reply)
  }
}

/** One attempt, within its time limit. */
function timedAttempt(model: ChatModel, request: ChatRequest, options: CallOptions): Promise<ChatReply> {
  const { meter, signal, attemptMs, clock } = options
  const ask = (until?: AbortSignal) =>
    meter === undefined ? model.ask(request, until) : askMetered(model, request, meter, until)
  return attemptMs === undefined ? ask(signal) : askInTime(attemptMs, signal, ask, clock)
}

const clientFailed: ChatReply = { ...cancelled, message: 'The client failed.' }

/** Asks and reports to the meter, even if the client fails or answers too late. */
async function askMetered(
  model: ChatModel,
  request: ChatRequest,
  meter: Meter,
  signal: AbortSignal | undefined,
): Promise<ChatReply> {
  const settle = meter.reserve(request, model.identity)
  let reply = clientFailed
  try {
    reply = await model.ask(request, signal)
    return reply
  } finally {
    settle(reply)
  }
}

function isRejected(reply: ChatReply): boolean {
  return !reply.ok && reply.kind === 'rejected'
}

/** Milliseconds to wait, from `Retry-After` in seconds or as a date. Ignored if unreadable or outside 0 to 60 s. */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  const ms = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) * 1000 : dateOf(text) - now
  return ms >= 0 && ms <= maxRetryAfter ? ms : undefined
}

/** Only the format that HTTP prescribes: `Date.parse` alone accepts much more. */
function dateOf(text: string): number {
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)
    ? Date.parse(text)
    : Number.NaN
}
