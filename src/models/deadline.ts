import { type ChatReply, cancelled } from './chat-model.ts'
import { type Clock, setAlarm, systemClock } from './clock.ts'

export type Ending = 'timeout' | 'aborted'

/**
 * Work that always ends: by itself, at the deadline or with the signal, even if it ignores the signal it is given. A result
 * that comes too late is dropped.
 */
export function withDeadline<Result extends object>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
  clock: Clock = systemClock,
): Promise<Result | Ending> {
  if (signal?.aborted) return Promise.resolve('aborted')
  return new Promise((resolve, reject) => {
    const own = new AbortController()
    const clear = () => {
      cancelAlarm()
      signal?.removeEventListener('abort', abort)
    }
    const end = (how: Ending) => {
      clear()
      resolve(how)
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

/** One attempt at a model. If it does not end in time or is cancelled, the reply says so. */
export async function askInTime(
  ms: number,
  signal: AbortSignal | undefined,
  ask: (signal: AbortSignal) => Promise<ChatReply>,
  clock?: Clock,
): Promise<ChatReply> {
  if (signal?.aborted) return { ...cancelled, unsent: true }
  const start = performance.now()
  const reply = await withDeadline(ms, signal, ask, clock)
  if (typeof reply === 'object') return reply
  const durationMs = performance.now() - start
  if (reply === 'aborted') return { ...cancelled, durationMs }
  return { ok: false, kind: 'timeout', message: `No complete answer within ${ms / 1000} s.`, durationMs }
}
