import type { Clock } from '../../src/models/clock.ts'

/** Time that passes only by sleeping, instantly; it records how long each sleep was. */
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
