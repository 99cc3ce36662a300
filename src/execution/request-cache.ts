import type { ChatAnswer, ChatFailure } from '../models/chat-model.ts'
import type { Call } from '../models/retry.ts'
import { noUsage } from '../models/usage.ts'

/**
 * Answers to earlier requests, by digest. At temperature 0 an identical request is an identical answer, so training need
 * not pay for it again. Failures are never stored.
 */
export interface RequestCache {
  get(digest: string): ChatAnswer | undefined | Promise<ChatAnswer | undefined>
  /** The answer is handed on when this has ended. */
  set(digest: string, answer: ChatAnswer): void | Promise<void>
}

export interface Asked {
  readonly call: Call
  /** The answer was there already, or somebody else's identical call brought it. */
  readonly reused: boolean
}

const flights = new WeakMap<RequestCache, Map<string, Promise<Asked>>>()

/** Asks unless the answer is known; of identical requests at the same time only one is made, by whoever came first. */
export async function askOnce(
  cache: RequestCache,
  digest: string,
  signal: AbortSignal,
  ask: () => Promise<Call>,
): Promise<Asked> {
  const inFlight = flights.get(cache) ?? new Map<string, Promise<Asked>>()
  flights.set(cache, inFlight)
  for (;;) {
    const flight = inFlight.get(digest)
    if (flight === undefined) {
      const own = lead(cache, digest, ask).finally(() => inFlight.delete(digest))
      inFlight.set(digest, own)
      return await own
    }
    const shared = await untilAborted(flight, signal)
    if (shared === undefined) return { call: withoutAttempts(cancelled), reused: true }
    const { reply } = shared.call
    // Whoever made the call may have been cancelled; that is no reason for us to go without.
    if (reply.ok || reply.kind !== 'cancelled') return { call: withoutAttempts(reply), reused: true }
  }
}

async function lead(cache: RequestCache, digest: string, ask: () => Promise<Call>): Promise<Asked> {
  const known = await cache.get(digest)
  if (known !== undefined) return { call: withoutAttempts(known), reused: true }
  const call = await ask()
  if (call.reply.ok) await cache.set(digest, call.reply)
  return { call, reused: false }
}

function withoutAttempts(reply: Call['reply']): Call {
  return { reply, attempts: [], usage: noUsage }
}

const cancelled: ChatFailure = {
  ok: false,
  kind: 'cancelled',
  message: 'The call was cancelled.',
  durationMs: 0,
}

function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  if (signal.aborted) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const giveUp = () => resolve(undefined)
    signal.addEventListener('abort', giveUp, { once: true })
    promise.finally(() => signal.removeEventListener('abort', giveUp)).then(resolve, reject)
  })
}
