import {
  type AllowanceStore,
  type Claim,
  type Ended,
  growthPerMinute,
  longestPauseMs,
  newestShare,
  type RateLimits,
  recentMs,
  refusedShare,
  type SharedCap,
  type SharedCaps,
  type Sums,
  shortestPauseMs,
  slackMs,
  type TakenCalls,
  usualOutput,
} from './allowance-store.ts'

interface Reservation {
  readonly tokens: number
  readonly money: number
  /** Tokens the limiter has counted for it. */
  readonly expected: number
  readonly admittedAt: number
  readonly expiresAt: number
  isLost: boolean
}

const minute = 60_000

/** For the calls of one process. `allowance-tables.ts` has the same logic in SQL. */
export class MemoryAllowanceStore implements AllowanceStore {
  readonly #now: () => number
  readonly #reservations = new Map<string, Reservation>()
  readonly #told = { calls: 0, input: 0, cachedInput: 0, output: 0, money: 0 }
  readonly #unknown = { attempts: 0, tokens: 0, money: 0 }
  #caps: SharedCaps = {}
  #limits: RateLimits = {}
  #nextRequest = Number.NEGATIVE_INFINITY
  #nextToken = Number.NEGATIVE_INFINITY
  #closedUntil = Number.NEGATIVE_INFINITY
  /** Refusals since the last answer, when the latest came, and whether a call has gone ahead since. */
  #refusals = { inARow: 0, at: Number.NEGATIVE_INFINITY, isTested: true }
  #learned: { readonly perMinute: number; readonly at: number } | undefined
  #recent = { count: 0, at: 0 }
  #averageOutput: number | undefined

  /** `now` is monotonic, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  async setCaps(caps: SharedCaps): Promise<void> {
    this.#caps = caps
  }

  async setLimits(limits: RateLimits): Promise<void> {
    const { requestsPerMinute, tokensPerMinute } = this.#limits
    this.#limits = {
      requestsPerMinute: limits.requestsPerMinute ?? requestsPerMinute,
      tokensPerMinute: limits.tokensPerMinute ?? tokensPerMinute,
    }
  }

  async take(claims: readonly Claim[], leaseMs: number): Promise<TakenCalls> {
    const now = this.#now()
    this.#expire(now)
    let admitted = 0
    while (admitted < claims.length && this.#reservations.has(claims[admitted]!.id)) admitted += 1
    const cap = this.#reached()
    if (cap !== undefined) return { admitted, waitMs: 0, cap }
    const { requestsPerMinute, tokensPerMinute } = this.#limits
    const perMinute = Math.min(requestsPerMinute ?? Infinity, this.#learnedRate(now))
    let waitMs = 0
    while (admitted < claims.length) {
      const turns = [this.#closedUntil, this.#nextRequest - slackMs, this.#nextToken - slackMs]
      waitMs = Math.max(...turns) - now
      if (waitMs > 0) break
      const { id, input, output, money } = claims[admitted]!
      const expected = input + Math.min(output, this.#averageOutput ?? usualOutput)
      // Without a limit, `perMinute` is Infinity and this adds 0.
      this.#nextRequest = Math.max(this.#nextRequest, now) + minute / perMinute
      this.#nextToken = Math.max(this.#nextToken, now) + (expected * minute) / (tokensPerMinute ?? Infinity)
      this.#reservations.set(id, {
        tokens: input + output,
        money,
        expected,
        admittedAt: now,
        expiresAt: now + leaseMs,
        isLost: false,
      })
      this.#recent = { count: this.#recentCount(now) + 1, at: now }
      // After a refusal one call goes ahead. The others follow unless it is refused as well.
      if (!this.#refusals.isTested) this.#closedUntil = now + shortestPauseMs
      this.#refusals.isTested = true
      admitted += 1
    }
    return { admitted, waitMs: Math.max(0, waitMs) }
  }

  async settle(ended: readonly Ended[]): Promise<void> {
    const now = this.#now()
    this.#expire(now)
    for (const { id, isAnswered, used, isUnknown, refused } of ended) {
      const reservation = this.#reservations.get(id)
      if (reservation === undefined) continue
      this.#reservations.delete(id)
      if (reservation.isLost) this.#addUnknown(-1, reservation)
      if (isAnswered) this.#told.calls += 1
      // A call from before the refusal says nothing about the limit now.
      if (isAnswered && reservation.admittedAt > this.#refusals.at) this.#refusals.inARow = 0
      if (used !== undefined) this.#addUsed(used, reservation)
      else if (isUnknown) this.#addUnknown(1, reservation)
      if (refused !== undefined) this.#refuse(now, reservation.admittedAt, refused.waitMs)
    }
  }

  async sums(): Promise<Sums> {
    this.#expire(this.#now())
    const reserved = { calls: 0, tokens: 0, money: 0 }
    for (const { isLost, tokens, money } of this.#reservations.values()) {
      if (isLost) continue
      reserved.calls += 1
      reserved.tokens += tokens
      reserved.money += money
    }
    return { ...this.#told, unknown: { ...this.#unknown }, reserved }
  }

  #expire(now: number): void {
    for (const reservation of this.#reservations.values()) {
      if (reservation.isLost || reservation.expiresAt >= now) continue
      reservation.isLost = true
      this.#addUnknown(1, reservation)
    }
  }

  #reached(): SharedCap | undefined {
    const { calls, input, output, money } = this.#told
    const amounts = {
      cost: money + this.#unknown.money,
      tokens: input + output + this.#unknown.tokens,
      calls,
    }
    return (['cost', 'tokens', 'calls'] as const).find((cap) => amounts[cap] >= (this.#caps[cap] ?? Infinity))
  }

  #addUnknown(sign: 1 | -1, { tokens, money }: Reservation): void {
    this.#unknown.attempts += sign
    this.#unknown.tokens += sign * tokens
    this.#unknown.money += sign * money
  }

  #addUsed(used: NonNullable<Ended['used']>, { expected }: Reservation): void {
    for (const kind of ['input', 'cachedInput', 'output', 'money'] as const) this.#told[kind] += used[kind]
    const { tokensPerMinute = Infinity } = this.#limits
    this.#nextToken += ((used.input + used.output - expected) * minute) / tokensPerMinute
    const before = this.#averageOutput ?? used.output
    this.#averageOutput = before + newestShare * (used.output - before)
  }

  #refuse(now: number, admittedAt: number, waitMs: number | undefined): void {
    this.#recent = { count: Math.max(0, this.#recentCount(now) - 1), at: now }
    // A call admitted before the last refusal does not count as another one.
    const isNext = admittedAt > this.#refusals.at
    if (isNext) {
      const inARow = this.#refusals.inARow + 1
      if (inARow === 1) this.#learned = { perMinute: this.#acceptedRate(now), at: now }
      this.#refusals = { inARow, at: now, isTested: false }
      waitMs ??= Math.min(shortestPauseMs * 2 ** (inARow - 1), longestPauseMs)
    }
    this.#closedUntil = Math.max(this.#closedUntil, now + (waitMs ?? 0))
    this.#learned = { ...this.#learned!, at: this.#closedUntil }
  }

  /** A share of the recently accepted rate, or of the last such rate, since there are few recent calls after a long pause. */
  #acceptedRate(now: number): number {
    const recent = (this.#recentCount(now) * minute) / recentMs
    return Math.max(1, refusedShare * Math.max(recent, this.#learned?.perMinute ?? 0))
  }

  #learnedRate(now: number): number {
    if (this.#learned === undefined) return Infinity
    const { perMinute, at } = this.#learned
    return perMinute * growthPerMinute ** (Math.max(0, now - at) / minute)
  }

  #recentCount(now: number): number {
    return this.#recent.count * Math.exp((this.#recent.at - now) / recentMs)
  }
}
