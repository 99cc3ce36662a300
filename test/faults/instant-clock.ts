import type { Clock } from '../../src/models/clock.ts'

/** Time that passes only by being slept through, at once; it remembers how long each sleep was to be. */
export class InstantClock implements Clock {
  readonly sleeps: number[] = []
  #now: number

  constructor(now = 0) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return
    this.sleeps.push(ms)
    this.#now += ms
  }
}
