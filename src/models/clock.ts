import { setTimeout as wait } from 'node:timers/promises'

/** Time as the retries see it, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Ends early, without an error, when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    try {
      await wait(ms, undefined, signal === undefined ? {} : { signal })
    } catch {
      // Only an abort gets here, and the caller looks at the signal.
    }
  },
}
