import { addCosts, type Cost, costOf, type Price } from '../models/prices.ts'
import type { Call } from '../models/retry.ts'
import { addUsage, noUsage, type Usage } from '../models/usage.ts'

/** What an execution used and what that cost, summed over all attempts of all calls. */
export class Tally {
  made: Usage = noUsage
  /** Calls and tokens that earlier or simultaneous identical calls saved. */
  reused: Usage = noUsage
  cost: Cost
  readonly #price: Price | undefined

  constructor(price: Price | undefined) {
    this.#price = price
    this.cost = price === undefined ? 'unpriced' : { amount: 0, currency: price.currency }
  }

  add({ reply, attempts, usage }: Call, reused: boolean): void {
    if (reused) {
      // A rejection counts as a call whoever made it, so that usage does not depend on which execution came first.
      if (reply.ok || reply.kind === 'rejected')
        this.reused = addUsage(this.reused, { ...noUsage, ...reply.usage, calls: 1 })
      return
    }
    this.made = addUsage(this.made, usage)
    if (this.#price === undefined) return
    // By the attempt, since a price may depend on the hour.
    for (const { reply: said, startedAt } of attempts)
      if (said.usage !== undefined)
        this.cost = addCosts(this.cost, costOf(said.usage, this.#price, new Date(startedAt)))
  }
}
