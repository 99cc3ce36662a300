const windowMs = 30_000
const fewest = 8
const mostSamples = 60

interface Sample {
  readonly at: number
  readonly done: number
}

/**
 * How fast work gets done lately: over the last half minute, or the last eight steps where they take longer. The whole
 * history would remember a slow start for ever, a single step would jump about.
 */
export class RecentRate {
  #samples: Sample[]

  constructor(at: number, done: number) {
    this.#samples = [{ at, done }]
  }

  add(at: number, done: number): void {
    const last = this.#samples.at(-1)!
    if (done === last.done) return
    // Less than before: a new count has begun.
    if (done < last.done) this.#samples = [{ at, done }]
    else if (this.#samples.length > 1 && at - this.#samples.at(-2)!.at < windowMs / mostSamples)
      this.#samples[this.#samples.length - 1] = { at, done }
    else this.#samples.push({ at, done })
    while (this.#samples.length > fewest + 1 && this.#samples[1]!.at <= at - windowMs) this.#samples.shift()
  }

  /** Undefined until something was done. Falls while nothing comes that should have come by now. */
  perSecond(now: number): number | undefined {
    const first = this.#samples[0]!
    const last = this.#samples.at(-1)!
    const steps = this.#samples.length - 1
    if (steps === 0) return undefined
    const took = last.at - first.at
    const overdue = Math.max(0, now - last.at - took / steps)
    return took + overdue > 0 ? ((last.done - first.done) * 1000) / (took + overdue) : undefined
  }
}
