// The paper's action-averaged loss of one trajectory group and its gradient with respect to the policy's logits.
import type { Action, Restriction } from '../graph/legality.ts'
import type { ConstructionStep } from '../policy/construction.ts'
import type { ActionDistribution, Logits } from '../policy/distribution.ts'
import { addRegularizerGradient, entropy, klDivergence } from '../policy/kl-and-entropy.ts'
import { type TrainingSettings, trainingSettings } from '../settings/training.ts'

/** What an update learns from: the trajectories of one query, each ending in STOP, with an advantage per position. */
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

export function lossWeights({ divergenceWeight, entropyWeight }: TrainingSettings): LossWeights {
  return { divergence: divergenceWeight, entropy: entropyWeight }
}

export const paperLossWeights = lossWeights(trainingSettings.parse({}))

/** The figures of one update, as `[trajectory][position]` and as means over all positions. */
export type UpdateReport = ReturnType<typeof groupLoss>

/** A state the group visited: the distributions of both policies, and the accumulator for the gradient of the logits. */
export interface VisitedState {
  readonly policy: ActionDistribution
  readonly reference: ActionDistribution
  readonly gradient: Logits
}

/** One decision of a trajectory. */
export interface LossPosition {
  readonly trajectory: number
  readonly position: number
  readonly action: Action
  readonly advantage: number
  readonly state: VisitedState
}

/**
 * The policy loss with its regularizers:
 * L = 1/M Σ_k Σ_t [−sg(A_{k,t}) log π(a_{k,t} | s_{k,t}) + β_KL KL(s_{k,t}) − β_H H(s_{k,t})].
 *
 * `decided` lists the positions where the policy had a choice. A STOP forced by the unit limit has log-probability,
 * KL and entropy zero, so it is not listed, but M still counts it: the paper averages over every recorded position.
 * `recorded` is M. If several groups make up one update, it counts the positions of all of them, and their losses add
 * up to the overall mean.
 */
export function groupLoss(
  group: RecordedGroup,
  decided: readonly LossPosition[],
  weights: LossWeights,
  recorded: number = recordedIn(group),
) {
  const zeros = () => group.trajectories.map((steps) => new Array<number>(steps.length).fill(0))
  // `divergences`: KL(policy ‖ reference). `policyLoss`: the mean of −A log π.
  const report = { logProbabilities: zeros(), divergences: zeros(), entropies: zeros() }
  const scale = 1 / recorded
  const sums = { policy: 0, divergence: 0, entropy: 0 }
  const regularizers = new Map<VisitedState, { divergence: number; entropy: number }>()
  for (const { trajectory, position, action, advantage, state } of decided) {
    const { policy, reference, gradient } = state
    const known = regularizers.get(state)
    const at = known ?? { divergence: klDivergence(policy, reference), entropy: entropy(policy) }
    if (known === undefined) regularizers.set(state, at)
    const logProbability = policy.logProbability(action)
    report.logProbabilities[trajectory]![position] = logProbability
    report.divergences[trajectory]![position] = at.divergence
    report.entropies[trajectory]![position] = at.entropy
    sums.policy -= advantage * logProbability
    sums.divergence += at.divergence
    sums.entropy += at.entropy
    addPositionGradient({ policy, reference, action, advantage }, weights, scale, gradient)
  }
  const policyLoss = sums.policy * scale
  const meanDivergence = sums.divergence * scale
  const meanEntropy = sums.entropy * scale
  const loss = policyLoss + weights.divergence * meanDivergence - weights.entropy * meanEntropy
  return { loss, policyLoss, meanDivergence, meanEntropy, ...report }
}

export function recordedIn({ trajectories }: RecordedGroup): number {
  return trajectories.reduce((sum, steps) => sum + steps.length, 0)
}

/** Adds the gradient of scale · [−A log π(a) + β_KL KL − β_H H] with respect to the untempered logits. */
export function addPositionGradient(
  at: Pick<LossPosition, 'action' | 'advantage'> & Pick<VisitedState, 'policy' | 'reference'>,
  weights: LossWeights,
  scale: number,
  into: Logits,
): void {
  const { policy, reference, action, advantage } = at
  const perLogit = scale / policy.temperature
  addRegularizerGradient(policy, reference, weights, perLogit, into)
  policy.addLogProbabilityGradient(action, -advantage * perLogit, into)
}
