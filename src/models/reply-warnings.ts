import type { ChatRequest, ReplyWarning } from './chat-model.ts'
import type { TokenUsage, UsageReading } from './usage.ts'

const enough = 8
const spread = 1.25

/** Detects what is suspicious about a server's answers. */
export class ReplyWarnings {
  #usage: TokenUsage | undefined
  #times = 0
  #shortest = 0
  #longest = 0

  of(
    { system, user, decoding }: ChatRequest,
    { usage, warning }: UsageReading,
    thinking: boolean,
  ): ReplyWarning[] {
    const warnings: ReplyWarning[] = warning === undefined ? [] : [warning]
    if (usage !== undefined && this.#isConstant(system.length + user.length, usage))
      warnings.push('usage_constant')
    if (thinking && !decoding.thinking) warnings.push('thinking')
    return warnings
  }

  /**
   * Whether this is at least the eighth reply in a row with the same usage for clearly different requests. Requests
   * of similar length may well use the same number of tokens, so lengths must differ by a quarter.
   */
  #isConstant(requestLength: number, usage: TokenUsage): boolean {
    const same = usage.input === this.#usage?.input && usage.output === this.#usage.output
    this.#usage = usage
    this.#times = same ? this.#times + 1 : 1
    this.#shortest = same ? Math.min(this.#shortest, requestLength) : requestLength
    this.#longest = same ? Math.max(this.#longest, requestLength) : requestLength
    return this.#times >= enough && this.#longest >= this.#shortest * spread
  }
}
