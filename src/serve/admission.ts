import { CallLimit, type Release } from '../models/call-limit.ts'
import { Refusal } from './refusal.ts'

/** Limits how many requests run and how many wait; the rest are refused. */
export class Admission {
  readonly #running: CallLimit
  readonly #maxWaiting: number
  /** Typical duration of a request in seconds, as a moving average. */
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

  /** Resolves when it is the request's turn. Throws a `Refusal` if the queue is full or the client disconnects. */
  async enter(signal: AbortSignal): Promise<Release> {
    const isFull = this.running >= this.#running.limit && this.waiting >= this.#maxWaiting
    if (isFull)
      throw new Refusal(429, `${this.waiting} requests are already waiting. Try again later.`, {
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
