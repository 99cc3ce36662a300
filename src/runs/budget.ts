import type { ChatReply, ChatRequest } from '../execution/models/chat-model.ts'
import { mayHaveBeenCharged } from '../execution/models/failure.ts'
import { type Cost, costOf, type Price } from '../execution/models/prices.ts'
import type { TokenUsage } from '../execution/models/usage.ts'
import type { BudgetSettings } from './budget-settings.ts'

/** What a run has used, over all its resumes. */
export interface Spent extends TokenUsage {
  /** Calls that were answered. */
  readonly calls: number
  /** Attempts that may have been charged but told no usage: while there are any, tokens and cost are estimates. */
  readonly unknown: number
  readonly cost: Cost
  readonly minutes: number
}

export type Cap = keyof BudgetSettings

/** Tokens of text that nobody has counted yet: more than there are likely to be. */
const charactersPerToken = 3

/**
 * Caps on a run. The most that a call can use is reserved before it and settled after it. A run ends at a boundary
 * between batches once a cap is reached, so it can pass it by what one batch uses, and reports by how much.
 */
export class Budget {
  readonly caps: BudgetSettings
  readonly price: Price | undefined
  readonly #start = performance.now()
  readonly #minutesBefore: number
  readonly #spent: {
    calls: number
    input: number
    cachedInput: number
    output: number
    unknown: number
    money: number
  }
  readonly #untold: { input: number; cachedInput: number; output: number }
  readonly #reserved = { calls: 0, tokens: 0, money: 0 }

  constructor(
    caps: BudgetSettings,
    price: Price | undefined,
    before: Spent = nothingSpent(price),
    untold: TokenUsage = noTokens,
  ) {
    this.caps = caps
    this.price = price
    const { calls, input, cachedInput, output, unknown, cost, minutes } = before
    this.#minutesBefore = minutes
    this.#untold = { ...untold }
    this.#spent = { calls, input, cachedInput, output, unknown, money: cost === 'unpriced' ? 0 : cost.amount }
  }

  get spent(): Spent {
    const { money, ...counts } = this.#spent
    const minutes = this.#minutesBefore + (performance.now() - this.#start) / 60_000
    return { ...counts, cost: this.#cost(money), minutes }
  }

  /** The part of it that no kept answer tells: what failed attempts used, and estimates where a server did not say. */
  get untold(): TokenUsage {
    return { ...this.#untold }
  }

  /** To be settled with the reply, once. */
  reserve({ system, user, decoding }: ChatRequest): (reply: ChatReply) => void {
    const most: TokenUsage = {
      input: Math.ceil((system.length + user.length) / charactersPerToken),
      cachedInput: 0,
      output: decoding.maxOutputTokens,
    }
    const held = { calls: 1, tokens: most.input + most.output, money: this.#money(most) }
    this.#reserve(held, 1)
    return (reply) => {
      this.#reserve(held, -1)
      this.#settle(reply, most)
    }
  }

  /** The cap that what is spent has reached, if any. */
  reached(): Cap | undefined {
    return this.#firstCap({ calls: 0, tokens: 0, money: 0 })
  }

  /** Whether nothing new should be started: what is under way may use up the rest. */
  exhausted(): boolean {
    return this.#firstCap(this.#reserved) !== undefined
  }

  /** By how much a cap was passed, in its own unit. */
  overshoot(cap: Cap): number {
    return Math.max(0, this.#amount(cap) - this.caps[cap]!)
  }

  #firstCap(more: { calls: number; tokens: number; money: number }): Cap | undefined {
    const extra = { calls: more.calls, tokens: more.tokens, cost: more.money, minutes: 0 }
    return (['cost', 'tokens', 'calls', 'minutes'] as const).find((cap) => {
      const limit = this.caps[cap]
      return limit !== undefined && this.#amount(cap) + extra[cap] >= limit
    })
  }

  #amount(cap: Cap): number {
    const { calls, input, output, money } = this.#spent
    if (cap === 'calls') return calls
    if (cap === 'tokens') return input + output
    return cap === 'cost' ? money : this.spent.minutes
  }

  #settle(reply: ChatReply, most: TokenUsage): void {
    const spent = this.#spent
    if (reply.ok) spent.calls += 1
    const isUntold = reply.usage === undefined && (reply.ok || mayHaveBeenCharged(reply.kind))
    if (isUntold) spent.unknown += 1
    // Where the server does not tell, the most it can have been: a cap must hold.
    const used = reply.usage ?? (isUntold ? most : undefined)
    if (used === undefined) return
    spent.input += used.input
    spent.cachedInput += used.cachedInput
    spent.output += used.output
    spent.money += this.#money(used)
    if (reply.ok && reply.usage !== undefined) return
    this.#untold.input += used.input
    this.#untold.cachedInput += used.cachedInput
    this.#untold.output += used.output
  }

  #reserve({ calls, tokens, money }: { calls: number; tokens: number; money: number }, sign: 1 | -1): void {
    this.#reserved.calls += sign * calls
    this.#reserved.tokens += sign * tokens
    this.#reserved.money += sign * money
  }

  #money(usage: TokenUsage): number {
    const cost = costOf(usage, this.price, new Date())
    return cost === 'unpriced' ? 0 : cost.amount
  }

  #cost(amount: number): Cost {
    return this.price === undefined ? 'unpriced' : { amount, currency: this.price.currency }
  }
}

const noTokens: TokenUsage = { input: 0, cachedInput: 0, output: 0 }

export function nothingSpent(price: Price | undefined): Spent {
  const cost: Cost = price === undefined ? 'unpriced' : { amount: 0, currency: price.currency }
  return { calls: 0, input: 0, cachedInput: 0, output: 0, unknown: 0, cost, minutes: 0 }
}
