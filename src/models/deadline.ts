import { type ChatFailure, type ChatReply, cancelled } from './chat-model.ts'
import { type Clock, setAlarm, systemClock } from './clock.ts'

export type Ending = 'timeout' | 'aborted'

/**
 * Runs work that always ends: by itself, at the deadline or on the signal, even if it ignores the signal it is given.
 * A late result is dropped; `cutOff` supplies another in its place.
 */
export function withDeadline<Result, Late = Ending>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
  clock: Clock = systemClock,
  cutOff: (how: Ending) => Late = (how) => how as Late,
): Promise<Result | Late> {
  if (signal?.aborted) return Promise.resolve(cutOff('aborted'))
  return new Promise((resolve, reject) => {
    const own = new AbortController()
    const clear = () => {
      cancelAlarm()
      signal?.removeEventListener('abort', abort)
    }
    const end = (how: Ending) => {
      clear()
      resolve(cutOff(how))
      own.abort()
    }
    const abort = () => end('aborted')
    const fail = (error: unknown) => {
      clear()
      reject(error)
    }
    const cancelAlarm = setAlarm(clock, ms, () => end('timeout'))
    signal?.addEventListener('abort', abort, { once: true })
    try {
      work(own.signal).then((result) => {
        clear()
        resolve(result)
      }, fail)
    } catch (error) {
      fail(error)
    }
  })
}

/** One attempt at a model. A timeout or cancellation becomes a failed reply. */
export function askInTime(
  ms: number,
  signal: AbortSignal | undefined,
  ask: (signal: AbortSignal) => Promise<ChatReply>,
  clock?: Clock,
): Promise<ChatReply> {
  if (signal?.aborted) return Promise.resolve({ ...cancelled, unsent: true })
  const start = performance.now()
  return withDeadline(ms, signal, ask, clock, (how): ChatFailure => {
    const durationMs = performance.now() - start
    if (how === 'aborted') return { ...cancelled, durationMs }
    return { ok: false, kind: 'timeout', message: `No complete answer within ${ms / 1000} s.`, durationMs }
  })
}
