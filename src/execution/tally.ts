import { addCosts, type Cost, costOf, type Price } from '../models/prices.ts'
import type { Call } from '../models/retry.ts'
import { noUsage, type Usage } from '../models/usage.ts'

/** What an execution used and what that cost, summed over all attempts of all calls. */
export class Tally {
  readonly made: Mutable<Usage> = { ...noUsage }
  /** Calls and tokens that earlier or simultaneous identical calls saved. */
  readonly reused: Mutable<Usage> = { ...noUsage }
  readonly #price: Price | undefined
  #cost: Cost

  constructor(price: Price | undefined) {
    this.#price = price
    this.#cost = price === undefined ? 'unpriced' : { amount: 0, currency: price.currency }
  }

  get cost(): Cost {
    return this.#cost
  }

  add({ reply, attempts, usage }: Call, reused: boolean): void {
    if (reused) {
      // A rejection counts as a call whoever made it, so that what an evaluation used does not depend on that.
      if (reply.ok || reply.kind === 'rejected') addTo(this.reused, { ...noUsage, ...reply.usage, calls: 1 })
      return
    }
    addTo(this.made, usage)
    if (this.#price === undefined) return
    // By the attempt, since a price may depend on the hour.
    for (const { reply: said, startedAt } of attempts)
      if (said.usage !== undefined)
        this.#cost = addCosts(this.#cost, costOf(said.usage, this.#price, new Date(startedAt)))
  }
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

function addTo(sum: Mutable<Usage>, part: Usage): void {
  sum.input += part.input
  sum.cachedInput += part.cachedInput
  sum.output += part.output
  sum.calls += part.calls
  sum.attempts += part.attempts
  sum.failedAttempts += part.failedAttempts
  sum.unknown += part.unknown
}
