import { setTimeout as wait } from 'node:timers/promises'

/** The clock used by calls and executions; replaceable, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Ends early, without an error, if the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `action` after this time, unless cancelled first. A clock without alarms gets real timers. */
  alarm?(ms: number, action: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  // Only an abort rejects, and callers check the signal.
  sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => {}),
}

/** The longest delay of `setTimeout`: 24 days. */
const longestTimer = 2 ** 31 - 1

export function setAlarm(clock: Clock, ms: number, action: () => void): () => void {
  if (clock.alarm !== undefined) return clock.alarm(ms, action)
  const timer = setTimeout(action, Math.min(ms, longestTimer))
  return () => clearTimeout(timer)
}
