import { type ChatModel, type ChatReply, paperDecoding } from '../src/models/chat-model.ts'
import type { Clock } from '../src/models/clock.ts'

/** How a provider counts its requests: by the clock's minute, by the last sixty seconds, or with a bucket that refills steadily. */
export type Counting = 'fixed' | 'sliding' | 'bucket'

const minute = 60_000

/** Time that jumps to the next sleeper. */
export class JumpingClock implements Clock {
  #now = 0
  readonly #sleepers: { readonly at: number; readonly wake: () => void }[] = []

  now(): number {
    return this.#now
  }

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => this.#sleepers.push({ at: this.#now + ms, wake }))
  }

  /** Advances to this time. */
  async run(until: number): Promise<void> {
    for (;;) {
      for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      const next = Math.min(...this.#sleepers.map(({ at }) => at))
      if (next > until) return
      this.#now = next
      const due = this.#sleepers.filter(({ at }) => at <= next)
      this.#sleepers.splice(0, this.#sleepers.length, ...this.#sleepers.filter(({ at }) => at > next))
      for (const { wake } of due) wake()
    }
  }
}

/** A provider that answers a limited number of requests per minute and refuses the rest (429), with or without `Retry-After`. */
export class RefusingProvider implements ChatModel {
  readonly identity = { provider: 'p', model: 'm', options: {} }
  /** The time of each request. */
  readonly accepted: number[] = []
  readonly refused: number[] = []
  readonly #limit: number
  readonly #counting: Counting
  readonly #tellsWait: boolean
  readonly #clock: Clock
  #bucket: { readonly level: number; readonly at: number }

  constructor(limit: number, counting: Counting, tellsWait: boolean, clock: Clock) {
    this.#limit = limit
    this.#counting = counting
    this.#tellsWait = tellsWait
    this.#clock = clock
    this.#bucket = { level: limit / 6, at: clock.now() }
  }

  async ask(): Promise<ChatReply> {
    const now = this.#clock.now()
    const waitMs = this.#waitMs(now)
    if (waitMs > 0) {
      this.refused.push(now)
      await this.#clock.sleep(30)
      const told = this.#tellsWait ? { retryAfter: String(Math.ceil(waitMs / 1000)) } : {}
      return { ok: false, kind: 'rate_limited', message: '429', durationMs: 30, ...told }
    }
    this.accepted.push(now)
    // Replies take between half a second and one and a half.
    await this.#clock.sleep(500 + ((this.accepted.length * 379) % 1000))
    const usage = { input: 100, cachedInput: 0, output: 100 }
    return { ok: true, text: '', finish: 'stop', usage, warnings: [], durationMs: 1 }
  }

  /** How long until a request would be accepted. */
  #waitMs(now: number): number {
    if (this.#counting === 'bucket') {
      const level = Math.min(
        this.#limit / 6,
        this.#bucket.level + ((now - this.#bucket.at) * this.#limit) / minute,
      )
      const isFull = level >= 1
      this.#bucket = { level: isFull ? level - 1 : level, at: now }
      return isFull ? 0 : ((1 - level) * minute) / this.#limit
    }
    const start = this.#counting === 'fixed' ? now - (now % minute) : now - minute + 1e-3
    const inWindow = this.accepted.filter((at) => at >= start)
    if (inWindow.length < this.#limit) return 0
    return this.#counting === 'fixed' ? start + minute - now : Math.max(1, inWindow[0]! + minute - now)
  }
}

export const shortRequest = {
  system: 'x'.repeat(300),
  user: '',
  decoding: { ...paperDecoding, maxOutputTokens: 100 },
}
