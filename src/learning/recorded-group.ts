import type { Restriction } from '../graph/legality.ts'
import type { ConstructionStep } from '../policy/construction.ts'

/** Trajectories of one query, STOP last in each, with the advantage of every position: what an update learns from. */
export interface RecordedGroup {
  readonly query: ArrayLike<number>
  readonly restriction: Restriction
  readonly temperature: number
  readonly trajectories: readonly (readonly ConstructionStep[])[]
  readonly advantages: readonly (readonly number[])[]
}

export interface LossWeights {
  /** β_KL */
  readonly divergence: number
  /** β_H */
  readonly entropy: number
}

export const paperLossWeights: LossWeights = { divergence: 0.01, entropy: 0.001 }

/** What one update measured, `[trajectory][position]` and on average over all positions. */
export interface UpdateReport {
  readonly logProbabilities: readonly (readonly number[])[]
  /** KL from the policy to the reference. */
  readonly divergences: readonly (readonly number[])[]
  readonly entropies: readonly (readonly number[])[]
  readonly loss: number
  /** Mean of −A log π. */
  readonly policyLoss: number
  readonly meanDivergence: number
  readonly meanEntropy: number
}
