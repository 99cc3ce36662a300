import { CallLimit, type Release } from '../models/call-limit.ts'
import { Refusal } from './refusal.ts'

/** So many requests are answered at once, so many wait, and the others are sent away. */
export class Admission {
  readonly #running: CallLimit
  readonly #maxWaiting: number
  /** Of a request, in seconds; a moving average. */
  #typical = 1

  constructor(maxRunning: number, maxWaiting: number) {
    this.#running = new CallLimit(maxRunning)
    this.#maxWaiting = maxWaiting
  }

  get running(): number {
    return this.#running.inFlight
  }

  get waiting(): number {
    return this.#running.waiting
  }

  /** Resolves when it is a request's turn. Refuses it where too many wait, or where its client has gone. */
  async enter(signal: AbortSignal): Promise<Release> {
    const isFull = this.running >= this.#running.limit && this.waiting >= this.#maxWaiting
    if (isFull)
      throw new Refusal(429, `${this.waiting} requests are waiting already. Try again later.`, {
        ...{ code: 'queue_full', headers: { 'retry-after': String(this.#retrySeconds()) } },
      })
    const release = await this.#running.acquire(0, signal)
    if (release === undefined) throw new Refusal(503, 'The request was cancelled.', { code: 'cancelled' })
    const start = performance.now()
    return () => {
      this.#typical += 0.1 * ((performance.now() - start) / 1000 - this.#typical)
      release()
    }
  }

  #retrySeconds(): number {
    const rounds = (this.waiting + 1) / this.#running.limit
    return Math.min(60, Math.max(1, Math.ceil(rounds * this.#typical)))
  }
}
