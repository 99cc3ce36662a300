import { type Clock, systemClock } from '../models/clock.ts'

/** Time as an execution sees it. A clock without alarms of its own gets real ones. */
export interface ExecutionClock extends Clock {
  /** Does something after this time unless it is called off first. */
  alarm?(ms: number, action: () => void): () => void
}

export function setAlarm(clock: ExecutionClock, ms: number, action: () => void): () => void {
  if (clock.alarm !== undefined) return clock.alarm(ms, action)
  const timer = setTimeout(action, Math.min(ms, longestTimer))
  return () => clearTimeout(timer)
}

/** What `setTimeout` can do: 24 days. */
const longestTimer = 2 ** 31 - 1

export type Ending = 'timeout' | 'aborted'

/**
 * Work that surely ends: by itself, at the deadline or with the signal, and in the last two cases whether it heeds its own
 * signal or not. What it brings after that is dropped.
 */
export function withDeadline<Result extends object>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
  clock: ExecutionClock = systemClock,
): Promise<Result | Ending> {
  if (signal.aborted) return Promise.resolve('aborted')
  return new Promise((resolve, reject) => {
    const own = new AbortController()
    const clear = () => {
      callOff()
      signal.removeEventListener('abort', cancel)
    }
    const end = (how: Ending) => {
      clear()
      resolve(how)
      own.abort()
    }
    const cancel = () => end('aborted')
    const fail = (error: unknown) => {
      clear()
      reject(error)
    }
    const callOff = setAlarm(clock, ms, () => end('timeout'))
    signal.addEventListener('abort', cancel, { once: true })
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
