import type { RewardSettings } from '../settings/rewards.ts'

/** U_P(G) = (κ u_0 + Σ_p S(G, p)) / (κ + |P|). Without any evidence, smoothed or not, it is the prior u_0. */
export function probeUtility(
  scores: readonly number[],
  { kappa, u0 }: Pick<RewardSettings, 'kappa' | 'u0'>,
): number {
  if (kappa + scores.length === 0) return u0
  return (kappa * u0 + scores.reduce((sum, score) => sum + score, 0)) / (kappa + scores.length)
}

/**
 * ΔU_P = Σ_p [S(G', p) − S(G, p)] / (κ + |P|): what an addition gained on the probes, paired probe by probe, so
 * that the prior of `probeUtility` cancels. Without probes it is 0, also when κ = 0 would leave 0/0.
 */
export function pairedUtilityGain(
  parentScores: readonly number[],
  childScores: readonly number[],
  { kappa }: Pick<RewardSettings, 'kappa'>,
): number {
  if (parentScores.length !== childScores.length) {
    throw new RangeError(
      `Probe scores are paired: there are ${parentScores.length} before the addition and ${childScores.length} after it.`,
    )
  }
  if (parentScores.length === 0) return 0
  const gained = childScores.reduce((sum, score, probe) => sum + (score - parentScores[probe]!), 0)
  return gained / (kappa + parentScores.length)
}

/** What one addition changes: ΔU, ΔC and ΔD. */
export interface Change {
  readonly utilityGain: number
  readonly addedComplexity: number
  readonly addedRepetition: number
}

/** d_t = α ΔU − β ΔC − γ_R ΔD. */
export function potentialIncrement(
  { utilityGain, addedComplexity, addedRepetition }: Change,
  { alpha, beta, gammaR }: Pick<RewardSettings, 'alpha' | 'beta' | 'gammaR'>,
): number {
  return alpha * utilityGain - beta * addedComplexity - gammaR * addedRepetition
}

/** Φ_0 = 0: potentials are relative to the empty graph. */
export const initialPotential = 0

/** Φ_{t+1} = Φ_t + d_t. */
export function nextPotential(potential: number, increment: number): number {
  return potential + increment
}
