/** As many clients are remembered. Whoever was not seen for longest is forgotten, which gives back at most one minute's worth. */
const rememberedClients = 10_000

interface Bucket {
  left: number
  at: number
}

/** So many requests per minute, evenly, with a whole minute's worth at once after a pause. */
export class RateLimit {
  readonly #perMinute: number
  readonly #now: () => number
  readonly #buckets = new Map<string, Bucket>()

  /** `now` is in milliseconds and never jumps. */
  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute
    this.#now = now
  }

  /** Takes one request of a client. If it has none left, the seconds until it has. */
  take(client: string): number | undefined {
    const now = this.#now()
    const { left, at } = this.#buckets.get(client) ?? { left: this.#perMinute, at: now }
    const filled = Math.min(this.#perMinute, left + ((now - at) / 60_000) * this.#perMinute)
    const isFree = filled >= 1
    // Last in the map is the one seen last.
    this.#buckets.delete(client)
    this.#buckets.set(client, { left: isFree ? filled - 1 : filled, at: now })
    if (this.#buckets.size > rememberedClients) this.#buckets.delete(this.#buckets.keys().next().value!)
    return isFree ? undefined : Math.max(1, Math.ceil(((1 - filled) * 60) / this.#perMinute))
  }
}
