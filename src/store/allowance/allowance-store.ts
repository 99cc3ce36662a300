import type { TokenUsage } from '../../models/usage.ts'
import { exitCode, Problem } from '../../problem.ts'
import type { BudgetSettings } from '../../settings/budget.ts'

/** A request to make a call, with its maximum usage. */
export interface Claim {
  /** Unique. Asking again with the same id is still one call. */
  readonly id: string
  /** Input tokens, estimated generously. */
  readonly input: number
  /** Limit on the tokens of the reply. */
  readonly output: number
  /** Cost of both. */
  readonly money: number
}

/** How an admitted call ended. */
export interface Ended {
  readonly id: string
  readonly isAnswered: boolean
  /** Usage as the server reported it, with its cost. */
  readonly used?: TokenUsage & { readonly money: number }
  /** It may have been charged without reporting usage, so its maximum counts. */
  readonly isUnknown: boolean
  /** The provider refused it because it was asked too often (429), and may have said how long to wait. */
  readonly refused?: { readonly waitMs?: number }
}

/** The first `admitted` claims may go ahead. The others ask again after `waitMs`, or never if a cap is reached. */
export interface TakenCalls {
  readonly admitted: number
  readonly waitMs: number
  readonly cap?: SharedCap
}

/** Working time is not shared: each trainer counts its own. */
export type SharedCap = Exclude<keyof BudgetSettings, 'minutes'>
export type SharedCaps = Readonly<Partial<Record<SharedCap, number>>>

/** A provider's limits. An absent one means no limit until the provider refuses. */
export interface RateLimits {
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
}

/** An account's usage, summed over all callers. */
export interface Sums extends TokenUsage {
  readonly calls: number
  readonly money: number
  /** Attempts that may have been charged: they reported no usage, or their caller disappeared. */
  readonly unknown: { readonly attempts: number; readonly tokens: number; readonly money: number }
  /** Calls in flight, with their maximum usage. */
  readonly reserved: { readonly calls: number; readonly tokens: number; readonly money: number }
}

/** Usage between two readings of an account. */
export function sumsSince(before: Sums, now: Sums): Sums {
  const less = <Fields extends Readonly<Record<string, unknown>>>(one: Fields, other: Fields): Fields => {
    const numbers = Object.keys(one).filter((name) => typeof one[name] === 'number')
    return {
      ...one,
      ...Object.fromEntries(numbers.map((name) => [name, Number(one[name]) - Number(other[name])])),
    }
  }
  return { ...less({ ...now }, { ...before }), unknown: less({ ...now.unknown }, { ...before.unknown }) }
}

/**
 * Budgets and rate limits shared by all callers: an account per run, a limiter per model. A call is admitted while spending
 * is below every cap, so a cap can be exceeded only by the calls in flight. Calls are spread evenly over each minute, so that
 * no minute exceeds the limits.
 */
export interface AllowanceStore {
  setCaps(caps: SharedCaps): Promise<void>
  /** Absent limits keep their value, since other callers of the model may have set them. */
  setLimits(limits: RateLimits): Promise<void>
  /** A call not settled within `leaseMs` counts as possibly charged, until it is settled after all. */
  take(claims: readonly Claim[], leaseMs: number): Promise<TakenCalls>
  /** Each call settles once; repeats are ignored. */
  settle(ended: readonly Ended[]): Promise<void>
  sums(): Promise<Sums>
}

/** A cap allows no further calls. Nothing is lost: the run can be resumed with a higher cap. */
export class CapReachedError extends Problem {
  readonly cap: SharedCap

  constructor(cap: SharedCap) {
    super(`The cap on ${cap} is reached. Resume with a higher cap to continue.`, {
      exitCode: exitCode.capReached,
    })
    this.cap = cap
  }
}

// How calls are spread over time. All stores use the same numbers.

/** How early a call may start: a hundredth of a minute. */
export const slackMs = 600
/** Assumed tokens of a reply before the first one. */
export const usualOutput = 500
/** Weight of the newest reply in the moving average. */
export const newestShare = 0.1
/** The current rate is an average over this long. */
export const recentMs = 20_000
/** After a refusal, the rate drops to this share of what the provider accepted. */
export const refusedShare = 0.8
/** From then on it grows by this factor each minute, up to the stated limits. */
export const growthPerMinute = 1.5
/** The pause after a refusal, unless the provider says how long to wait. Each further refusal in a row doubles it. */
export const shortestPauseMs = 1000
export const longestPauseMs = 8000
