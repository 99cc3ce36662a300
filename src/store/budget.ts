import type { ChatReply, ChatRequest } from '../models/chat-model.ts'
import { mayHaveBeenCharged } from '../models/failure.ts'
import { type Cost, costOf, type Price } from '../models/prices.ts'
import type { TokenUsage } from '../models/usage.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import type { CallJournal, EndedAttempt, SpentSum } from './call-journal.ts'

/** What a run has used, over all its resumes. Tokens and cost are what the server told, and nothing else. */
export interface Spent extends TokenUsage {
  /** Calls that were answered. */
  readonly calls: number
  readonly cost: Cost
  /** Attempts that may have been charged but told no usage: cut off, given up, or under way at a kill. */
  readonly unknown: number
  /** The most that those can have used on top. Events of earlier versions lack it: there it is part of the tokens. */
  readonly unknownAtMost?: { readonly tokens: number; readonly cost: Cost }
  readonly minutes: number
}

export type Cap = keyof BudgetSettings

/** Tokens of text that nobody has counted yet: more than there are likely to be. */
const charactersPerToken = 3

/**
 * Caps on a run. The most that a call can use is reserved before it and settled after it. A run ends at a boundary
 * between batches once a cap is reached, so it can pass it by what one batch uses, and reports by how much.
 *
 * Attempts that may have been charged but told no usage count towards a cap with the most that they can have used, since a
 * cap must hold; `spent` tells them apart from what is known.
 */
export class Budget {
  readonly caps: BudgetSettings
  readonly price: Price | undefined
  readonly #start = performance.now()
  readonly #journal: CallJournal | undefined
  readonly #told = { calls: 0, input: 0, cachedInput: 0, output: 0, money: 0 }
  readonly #unknown = { attempts: 0, tokens: 0, money: 0 }
  readonly #reserved = { calls: 0, tokens: 0, money: 0 }
  #minutesBefore = 0

  /** With a journal it goes on from what that tells, and notes there what is spent. */
  constructor(caps: BudgetSettings, price: Price | undefined, journal?: CallJournal) {
    this.caps = caps
    this.price = price
    this.#journal = journal
    for (const line of journal?.earlier ?? []) {
      if ('sum' in line) this.#addSum(line)
      else this.#addAttempt(line)
      this.#minutesBefore = Math.max(this.#minutesBefore, 'sum' in line ? line.sum.minutes : line.minutes)
    }
  }

  get spent(): Spent {
    const { money, calls, ...usage } = this.#told
    const { attempts, tokens, money: most } = this.#unknown
    return {
      calls,
      ...usage,
      cost: this.#cost(money),
      unknown: attempts,
      unknownAtMost: { tokens, cost: this.#cost(most) },
      minutes: this.#minutes(),
    }
  }

  /** To be settled with the reply, once. */
  reserve({ system, user, decoding, isControl }: ChatRequest): (reply: ChatReply) => void {
    const most: TokenUsage = {
      input: Math.ceil((system.length + user.length) / charactersPerToken),
      cachedInput: 0,
      output: decoding.maxOutputTokens,
    }
    const held = { calls: 1, tokens: most.input + most.output, money: this.#money(most) }
    const id = this.#journal?.begin(most, this.#minutesNow())
    this.#reserve(held, 1)
    return (reply) => {
      this.#reserve(held, -1)
      const ended = this.#ended(reply, most)
      this.#addAttempt(ended)
      if (id !== undefined) this.#journal!.end(id, { ...ended, control: isControl })
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
    const { calls, input, output, money } = this.#told
    if (cap === 'calls') return calls
    if (cap === 'tokens') return input + output + this.#unknown.tokens
    return cap === 'cost' ? money + this.#unknown.money : this.#minutes()
  }

  #minutes(): number {
    return this.#minutesBefore + (performance.now() - this.#start) / 60_000
  }

  /** For the journal, to a few milliseconds. */
  #minutesNow(): number {
    return Number(this.#minutes().toFixed(4))
  }

  #ended(reply: ChatReply, most: TokenUsage): EndedAttempt {
    const minutes = this.#minutesNow()
    const kind = reply.ok ? 'answered' : reply.kind
    if (reply.usage !== undefined)
      return { kind, used: reply.usage, cost: costOf(reply.usage, this.price, new Date()), minutes }
    if (reply.ok || mayHaveBeenCharged(reply))
      return { kind, atMost: most, cost: costOf(most, this.price, new Date()), minutes }
    return { kind, cost: this.#cost(0), minutes }
  }

  #addAttempt({ kind, used, atMost, cost }: EndedAttempt): void {
    if (kind === 'answered') this.#told.calls += 1
    if (used !== undefined) this.#addTold(used, cost)
    if (atMost !== undefined) {
      this.#unknown.attempts += 1
      this.#unknown.tokens += atMost.input + atMost.output
      this.#unknown.money += this.#inOurMoney(cost, atMost)
    }
  }

  #addSum({ sum: { calls, cost, unknown, unknownAtMost, minutes: _, ...usage } }: SpentSum): void {
    this.#told.calls += calls
    this.#addTold(usage, cost)
    this.#unknown.attempts += unknown
    if (unknownAtMost === undefined) return
    const { tokens, cost: most } = unknownAtMost
    this.#unknown.tokens += tokens
    this.#unknown.money += this.#inOurMoney(most, { input: 0, cachedInput: 0, output: tokens })
  }

  #addTold(used: TokenUsage, cost: Cost): void {
    this.#told.input += used.input
    this.#told.cachedInput += used.cachedInput
    this.#told.output += used.output
    this.#told.money += this.#inOurMoney(cost, used)
  }

  #reserve({ calls, tokens, money }: { calls: number; tokens: number; money: number }, sign: 1 | -1): void {
    this.#reserved.calls += sign * calls
    this.#reserved.tokens += sign * tokens
    this.#reserved.money += sign * money
  }

  /** What was noted without a price, or in another currency, is priced at what it would cost now. */
  #inOurMoney(cost: Cost, usage: TokenUsage): number {
    return cost !== 'unpriced' && cost.currency === this.price?.currency ? cost.amount : this.#money(usage)
  }

  #money(usage: TokenUsage): number {
    const cost = costOf(usage, this.price, new Date())
    return cost === 'unpriced' ? 0 : cost.amount
  }

  #cost(amount: number): Cost {
    return this.price === undefined ? 'unpriced' : { amount, currency: this.price.currency }
  }
}
