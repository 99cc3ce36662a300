/** Clients remembered. Forgetting the least recent one grants it at most one minute's worth of requests. */
const rememberedClients = 10_000

interface Bucket {
  left: number
  at: number
}

/** A token bucket per client: it holds one minute's worth of requests and refills evenly. */
export class RateLimit {
  readonly #perMinute: number
  readonly #now: () => number
  readonly #buckets = new Map<string, Bucket>()

  /** `now` is monotonic, in milliseconds. */
  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute
    this.#now = now
  }

  /** Takes one request from a client's bucket. If it is empty, returns the seconds to wait. */
  take(client: string): number | undefined {
    const now = this.#now()
    const { left, at } = this.#buckets.get(client) ?? { left: this.#perMinute, at: now }
    const filled = Math.min(this.#perMinute, left + ((now - at) / 60_000) * this.#perMinute)
    const isFree = filled >= 1
    // Keeps the map in order of last use.
    this.#buckets.delete(client)
    this.#buckets.set(client, { left: isFree ? filled - 1 : filled, at: now })
    if (this.#buckets.size > rememberedClients) this.#buckets.delete(this.#buckets.keys().next().value!)
    return isFree ? undefined : Math.max(1, Math.ceil(((1 - filled) * 60) / this.#perMinute))
  }
}
