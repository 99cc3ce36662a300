import type { TokenUsage } from '../../models/usage.ts'
import { exitCode, Problem } from '../../problem.ts'
import type { BudgetSettings } from '../../settings/budget.ts'

/** A call that somebody wants to make, with the most that it can use. */
export interface Claim {
  /** Unique: whoever asks twice with the same one has one call. */
  readonly id: string
  /** Tokens, estimated on the high side. */
  readonly input: number
  /** The limit on the tokens of the reply. */
  readonly output: number
  /** What those would cost. */
  readonly money: number
}

/** What became of a call that was allowed. */
export interface Ended {
  readonly id: string
  /** It was answered. */
  readonly isAnswered: boolean
  /** As the server told it, with its price. */
  readonly used?: TokenUsage & { readonly money: number }
  /** It may have been charged, but nobody told. The most that it can have used counts. */
  readonly isUnknown: boolean
  /** The provider was asked too often; it wants to be left alone for so long. */
  readonly refusedMs?: number
}

/** The first so many of those who asked may go. The others ask again after a while, or never, if a cap is reached. */
export interface TakenCalls {
  readonly admitted: number
  readonly waitMs: number
  readonly cap?: SharedCap
}

/** How long a run has worked is its trainer's own affair. */
export type SharedCap = Exclude<keyof BudgetSettings, 'minutes'>
export type SharedCaps = Readonly<Partial<Record<SharedCap, number>>>

/** A provider's limits; without one there is none until the provider refuses. */
export interface RateLimits {
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
}

/** What an account has used, over all who called. */
export interface Sums extends TokenUsage {
  readonly calls: number
  readonly money: number
  /** Attempts that may have been charged: they told nothing, or their caller was never heard of again. */
  readonly unknown: { readonly attempts: number; readonly tokens: number; readonly money: number }
  /** Calls under way, with the most that they can use. */
  readonly reserved: { readonly calls: number; readonly tokens: number; readonly money: number }
}

/** What was used between two looks at an account. */
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
 * Where a budget and a provider's limits are kept for all who share them: an account, of a run, and a limiter, of a model. A
 * call is admitted while what is spent is below every cap, so a cap is passed by no more than the calls in flight; and evenly
 * over the minute, so that no minute has more than the limits.
 */
export interface AllowanceStore {
  setCaps(caps: SharedCaps): Promise<void>
  /** What is not stated stays as it was: others who ask the same model may have stated it. */
  setLimits(limits: RateLimits): Promise<void>
  /** What is admitted and not settled within `leaseMs` counts as possibly spent, until it is settled after all. */
  take(claims: readonly Claim[], leaseMs: number): Promise<TakenCalls>
  /** Each once: what is told again changes nothing. */
  settle(ended: readonly Ended[]): Promise<void>
  sums(): Promise<Sums>
}

/** A cap forbids further calls. Everything is kept, and a resume with a higher cap goes on. */
export class CapReachedError extends Problem {
  readonly cap: SharedCap

  constructor(cap: SharedCap) {
    super(`The cap on ${cap} is reached. Resume with a higher one to go on.`, {
      exitCode: exitCode.capReached,
    })
    this.cap = cap
  }
}

// How evenly: the numbers are the same in every store.

/** A call may come so much before its turn: a hundredth of a minute. */
export const slackMs = 600
/** Tokens of a reply before there was any. */
export const usualOutput = 500
/** How much the newest reply counts in the average. */
export const newestShare = 0.1
/** Over how long the rate is looked at that a provider has refused. */
export const recentMs = 20_000
/** A provider that refuses gets this part of what it was asked then. */
export const refusedShare = 0.8
/** Refusals that come together are one. */
export const refusalMs = 5000
/** Then, each minute, so many times as much, up to the limits. */
export const growthPerMinute = 1.5
