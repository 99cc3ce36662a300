import type { RewardSettings } from '../settings/rewards.ts'

/** F_t = η Φ_{t+1} − Φ_t: the reward stored with an addition, whose task reward is zero. */
export function shapingReward(before: number, after: number, { eta }: Pick<RewardSettings, 'eta'>): number {
  return eta * after - before
}

/** What running the final graph on the query took. */
export interface TerminalUsage {
  readonly calls: number
  readonly tokens: number
}

/**
 * The task's part of STOP's reward: S, less what calls and tokens cost. The paper's weights for both are zero; it
 * speaks of normalizers but gives no value, so here a weight is simply per call and per token.
 */
export function terminalReward(
  score: number,
  usage: TerminalUsage | undefined,
  { callPenalty, tokenPenalty }: Pick<RewardSettings, 'callPenalty' | 'tokenPenalty'>,
): number {
  if (callPenalty === 0 && tokenPenalty === 0) return score
  if (usage === undefined) {
    throw new TypeError(
      'callPenalty or tokenPenalty is set, but the trajectory has no terminalUsage to charge. Record it, or set both to 0.',
    )
  }
  return score - callPenalty * usage.calls - tokenPenalty * usage.tokens
}

/** The settlement −Φ: the terminal state has potential zero. */
export function terminalShapingReward(potential: number): number {
  return 0 - potential // not a bare minus, which would make -0 of 0
}
