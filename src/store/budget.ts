import type { ChatReply, ChatRequest, ModelIdentity } from '../models/chat-model.ts'
import { mayHaveBeenCharged } from '../models/failure.ts'
import { type Cost, costOf, moneyIn, type Price, priceFor, type RunPrice } from '../models/prices.ts'
import { type TokenUsage, tokensIn } from '../models/usage.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import type { Sums } from './allowance/allowance-store.ts'
import type { CallJournal, EndedAttempt } from './call-journal.ts'

/** What a run has used, over all resumes. Tokens and cost count only what the server reported. */
export interface Spent extends TokenUsage {
  /** Calls that were answered. */
  readonly calls: number
  readonly cost: Cost
  /** Attempts that may have been charged without reporting usage: cut off, abandoned, or under way at a kill. */
  readonly unknown: number
  /**
   * Upper bound on what the unknown attempts used in addition. Missing in events of earlier versions, where it is
   * part of the tokens.
   */
  readonly unknownAtMost?: { readonly tokens: number; readonly cost: Cost }
  readonly minutes: number
}

/** Stores spending beyond the life of a process. */
export type Journal = Pick<CallJournal, 'earlier' | 'begin' | 'end'>

export type Cap = keyof BudgetSettings

/** The order in which caps are checked. */
const capOrder = ['cost', 'tokens', 'calls', 'minutes'] as const

/** What counts towards caps. */
export type Counted = Pick<Spent, 'cost' | 'input' | 'output' | 'calls' | 'minutes'>

/** The sums that caps are compared with. */
export function usedBy(spent: readonly Counted[]): Required<BudgetSettings> {
  const sum = (amount: (one: Counted) => number) => spent.reduce((total, one) => total + amount(one), 0)
  return {
    cost: sum(({ cost }) => moneyIn(cost)),
    tokens: sum(tokensIn),
    calls: sum(({ calls }) => calls),
    minutes: sum(({ minutes }) => minutes),
  }
}

/** What is left of the caps that are set. */
export function capsLeft(caps: BudgetSettings, used: Required<BudgetSettings>): BudgetSettings {
  const set = capOrder.filter((cap) => caps[cap] !== undefined)
  return Object.fromEntries(set.map((cap) => [cap, Math.max(0, caps[cap]! - used[cap])]))
}

/** For estimating tokens generously. */
const charactersPerToken = 3

/** Upper bound on the usage of a call. */
export function mostOf({ system, user, decoding }: ChatRequest): TokenUsage {
  return {
    input: Math.ceil((system.length + user.length) / charactersPerToken),
    cachedInput: 0,
    output: decoding.maxOutputTokens,
  }
}

/** What an attempt used according to its reply. Unknown if it may have been charged but reports nothing. */
export function chargeOf(reply: ChatReply): { readonly used?: TokenUsage; readonly isUnknown: boolean } {
  if (reply.usage !== undefined) return { used: reply.usage, isUnknown: false }
  return { isUnknown: reply.ok || mayHaveBeenCharged(reply) }
}

/**
 * Caps on a run. Before each call its maximum usage is reserved; afterwards the actual usage is settled. A run stops
 * between batches once a cap is reached, so it can overshoot by one batch, and reports by how much.
 *
 * Attempts that may have been charged without reporting usage count with their maximum, since a cap must hold;
 * `spent` lists them separately.
 */
export class Budget {
  readonly caps: BudgetSettings
  readonly price: RunPrice | undefined
  readonly #start = performance.now()
  readonly #journal: Journal | undefined
  readonly #told = { calls: 0, input: 0, cachedInput: 0, output: 0, money: 0 }
  readonly #unknown = { attempts: 0, tokens: 0, money: 0 }
  readonly #reserved = { calls: 0, tokens: 0, cost: 0, minutes: 0 }
  readonly #elsewhere: (() => Sums) | undefined
  #minutesBefore = 0

  /**
   * With a journal, it continues from the recorded spending and records new spending there. `elsewhere` returns what
   * other processes used for the same run, which counts too.
   */
  constructor(caps: BudgetSettings, price: RunPrice | undefined, journal?: Journal, elsewhere?: () => Sums) {
    this.#elsewhere = elsewhere
    this.caps = caps
    this.price = price
    this.#journal = journal
    for (const line of journal?.earlier ?? []) {
      if ('sum' in line) this.#addSum(line.sum)
      else this.#addAttempt(line)
      this.#minutesBefore = Math.max(this.#minutesBefore, 'sum' in line ? line.sum.minutes : line.minutes)
    }
  }

  get spent(): Spent {
    const { told, unknown } = this.#all()
    const { money, calls, ...usage } = told
    const { attempts, tokens, money: most } = unknown
    return {
      calls,
      ...usage,
      cost: this.#cost(money),
      unknown: attempts,
      unknownAtMost: { tokens, cost: this.#cost(most) },
      minutes: this.#minutes(),
    }
  }

  /** `spent`, with every call of this process that is still under way counted as unknown. */
  get spentAtMost(): Spent {
    const { attempts, tokens, money } = this.#all().unknown
    const { calls, tokens: moreTokens, cost: moreMoney } = this.#reserved
    return {
      ...this.spent,
      unknown: attempts + calls,
      unknownAtMost: { tokens: tokens + moreTokens, cost: this.#cost(money + moreMoney) },
    }
  }

  /** Reserves a call's maximum usage. The returned function must be called once, with the reply. */
  reserve(request: ChatRequest, model?: ModelIdentity): (reply: ChatReply) => void {
    const { isControl } = request
    const price = priceFor(this.price, model)
    const most = mostOf(request)
    const cost = costOf(most, price, new Date())
    const money = moneyIn(cost)
    const reserve = (sign: 1 | -1) => {
      this.#reserved.calls += sign
      this.#reserved.tokens += sign * (most.input + most.output)
      this.#reserved.cost += sign * money
    }
    const id = this.#journal?.begin(most, this.#minutesNow(), price === this.price ? undefined : cost)
    reserve(1)
    return (reply) => {
      reserve(-1)
      const ended = this.#ended(reply, most, price)
      this.#addAttempt(ended)
      if (id !== undefined) this.#journal!.end(id, { ...ended, control: isControl })
    }
  }

  /** The cap reached so far, if any. */
  reached(): Cap | undefined {
    return capOrder.find((cap) => this.#amount(cap) >= (this.caps[cap] ?? Number.POSITIVE_INFINITY))
  }

  /** Whether nothing new should start, because calls under way may use up the rest. */
  exhausted(): boolean {
    return capOrder.some(
      (cap) => this.#amount(cap) + this.#underWay(cap) >= (this.caps[cap] ?? Number.POSITIVE_INFINITY),
    )
  }

  /** By how much a cap was passed, in its own unit. */
  overshoot(cap: Cap): number {
    return Math.max(0, this.#amount(cap) - this.caps[cap]!)
  }

  #amount(cap: Cap): number {
    const { told, unknown } = this.#all()
    if (cap === 'calls') return told.calls
    if (cap === 'tokens') return told.input + told.output + unknown.tokens
    return cap === 'cost' ? told.money + unknown.money : this.#minutes()
  }

  #underWay(cap: Cap): number {
    const others = this.#elsewhere?.().reserved ?? { calls: 0, tokens: 0, money: 0 }
    return this.#reserved[cap] + { ...others, cost: others.money, minutes: 0 }[cap]
  }

  /** Including what other processes used. */
  #all(): { told: Omit<Sums, 'unknown' | 'reserved'>; unknown: Sums['unknown'] } {
    const others = this.#elsewhere?.()
    if (others === undefined) return { told: this.#told, unknown: this.#unknown }
    const { unknown, reserved: _, ...told } = others
    return { told: added(this.#told, told), unknown: added(this.#unknown, unknown) }
  }

  #minutes(): number {
    return this.#minutesBefore + (performance.now() - this.#start) / 60_000
  }

  /** Rounded for the journal, to a few milliseconds. */
  #minutesNow(): number {
    return Number(this.#minutes().toFixed(4))
  }

  #ended(reply: ChatReply, most: TokenUsage, price: Price | undefined): EndedAttempt {
    const minutes = this.#minutesNow()
    const kind = reply.ok ? 'answered' : reply.kind
    const { used, isUnknown } = chargeOf(reply)
    if (used !== undefined) return { kind, used, cost: costOf(used, price, new Date()), minutes }
    if (isUnknown) return { kind, atMost: most, cost: costOf(most, price, new Date()), minutes }
    return { kind, cost: this.#cost(0), minutes }
  }

  #addAttempt({ kind, used, atMost, cost }: EndedAttempt): void {
    this.#addTold(kind === 'answered' ? 1 : 0, used, cost)
    if (atMost !== undefined) this.#addUnknown(1, atMost, cost)
  }

  #addSum({ calls, cost, unknown, unknownAtMost, ...usage }: Spent): void {
    this.#addTold(calls, usage, cost)
    const { tokens, cost: most } = unknownAtMost ?? { tokens: 0, cost: 'unpriced' }
    this.#addUnknown(unknown, { input: 0, cachedInput: 0, output: tokens }, most)
  }

  #addTold(calls: number, used: TokenUsage | undefined, cost: Cost): void {
    this.#told.calls += calls
    if (used === undefined) return
    for (const kind of ['input', 'cachedInput', 'output'] as const) this.#told[kind] += used[kind]
    this.#told.money += this.#inOurMoney(cost, used)
  }

  #addUnknown(attempts: number, atMost: TokenUsage, cost: Cost): void {
    this.#unknown.attempts += attempts
    this.#unknown.tokens += atMost.input + atMost.output
    this.#unknown.money += this.#inOurMoney(cost, atMost)
  }

  /** Usage recorded without a price, or in another currency, is priced at today's price. */
  #inOurMoney(cost: Cost, usage: TokenUsage): number {
    const isOurs = cost !== 'unpriced' && cost.currency === this.price?.currency
    return moneyIn(isOurs ? cost : costOf(usage, this.price, new Date()))
  }

  #cost(amount: number): Cost {
    return this.price === undefined ? 'unpriced' : { amount, currency: this.price.currency }
  }
}

/** Adds two records field by field. */
function added<Fields extends { readonly [Name in keyof Fields]: number }>(
  one: Fields,
  other: Fields,
): Fields {
  const names = Object.keys(one) as (keyof Fields)[]
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as Fields
}
