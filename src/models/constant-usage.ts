import type { TokenUsage } from './usage.ts'

const enough = 8
const spread = 1.25

/**
 * Notices a server that reports the same usage whatever is asked. Requests of nearly the same length may well use the
 * same number of tokens, so their lengths must differ by a quarter before equal counts are suspicious.
 */
export class ConstantUsage {
  #usage: TokenUsage | undefined
  #times = 0
  #shortest = 0
  #longest = 0

  /** Whether this reply is at least the eighth in a row with the same usage for clearly different requests. */
  observe(requestLength: number, usage: TokenUsage): boolean {
    const same = usage.input === this.#usage?.input && usage.output === this.#usage.output
    this.#usage = usage
    this.#times = same ? this.#times + 1 : 1
    this.#shortest = same ? Math.min(this.#shortest, requestLength) : requestLength
    this.#longest = same ? Math.max(this.#longest, requestLength) : requestLength
    return this.#times >= enough && this.#longest >= this.#shortest * spread
  }
}
