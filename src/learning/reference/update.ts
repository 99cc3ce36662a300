import type { AdamSettings } from '../../numerics/adam.ts'
import { adamStep, type PlainAdamState } from '../../numerics/plain/adam.ts'
import { add, scale } from '../../numerics/plain/operations.ts'
import type { Value } from '../../numerics/plain/value.ts'
import type { ConstructionStep } from '../../policy/construction.ts'
import type { PlainParameters } from '../../policy/parameter-shapes.ts'
import { PlainDistribution } from '../../policy/reference/distribution.ts'
import { PlainNetwork } from '../../policy/reference/network.ts'
import type { LossWeights, RecordedGroup, UpdateReport } from '../loss.ts'

/** The loss with its parts, and the gradient of every tensor. */
export interface PlainLoss extends UpdateReport {
  readonly gradients: Map<string, Float64Array>
}

/** The state an update changes: weights and optimizer moments. */
export interface PlainTraining {
  readonly parameters: PlainParameters
  readonly adam: PlainAdamState
}

/**
 * The mean over all recorded positions of −sg(A) log π + β_KL KL − β_H H, with gradients. The reference is a frozen
 * network with the same options as the policy.
 */
export function plainLoss(
  parameters: PlainParameters,
  reference: PlainNetwork,
  group: RecordedGroup,
  weights: LossWeights,
): PlainLoss {
  const policy = new PlainNetwork(parameters, reference.options)
  const { trajectories, advantages } = group
  const positions = trajectories.map((trajectory) =>
    trajectory.map((position) => measure(policy, reference, position, group)),
  )
  const all = positions.flat()
  const weighed = positions.flatMap((trajectory, k) =>
    trajectory.map(({ logProbability }, t) => {
      const advantage = advantages[k]?.[t]
      if (advantage === undefined) throw new RangeError(`Action ${t} of trajectory ${k} has no advantage.`)
      return scale(logProbability, -advantage)
    }),
  )
  const policyLoss = meanOf(weighed)
  const meanDivergence = meanOf(all.map(({ divergence }) => divergence))
  const meanEntropy = meanOf(all.map(({ entropy }) => entropy))
  const loss = add(
    policyLoss,
    scale(meanDivergence, weights.divergence),
    scale(meanEntropy, -weights.entropy),
  )
  loss.backward()
  const numbers = (part: keyof Measured) =>
    positions.map((trajectory) => trajectory.map((measured) => measured[part].number))
  return {
    logProbabilities: numbers('logProbability'),
    divergences: numbers('divergence'),
    entropies: numbers('entropy'),
    loss: loss.number,
    policyLoss: policyLoss.number,
    meanDivergence: meanDivergence.number,
    meanEntropy: meanEntropy.number,
    gradients: new Map([...policy.parameters].map(([name, { gradient }]) => [name, gradient])),
  }
}

/** One update: the loss, its gradients, a step of Adam. Returns the new state; nothing is changed in place. */
export function plainUpdate(
  training: PlainTraining,
  reference: PlainNetwork,
  group: RecordedGroup,
  weights: LossWeights,
  settings: AdamSettings,
): [PlainLoss, PlainTraining] {
  const { parameters } = training
  const loss = plainLoss(parameters, reference, group, weights)
  const data = new Map([...parameters].map(([name, tensor]) => [name, tensor.data]))
  const [stepped, adam] = adamStep(data, loss.gradients, training.adam, settings)
  const after = new Map(
    [...parameters].map(([name, { shape }]) => [name, { shape, data: stepped.get(name)! }]),
  )
  return [loss, { parameters: after, adam }]
}

interface Measured {
  readonly logProbability: Value
  readonly divergence: Value
  readonly entropy: Value
}

/** One forward pass of the policy with its recorded dropout mask, and one of the reference without dropout. */
function measure(
  policy: PlainNetwork,
  reference: PlainNetwork,
  { graph, action, dropoutKeep }: ConstructionStep,
  { query, restriction, temperature }: RecordedGroup,
): Measured {
  const state = { query: Float64Array.from(query), graph, restriction }
  const current = new PlainDistribution(policy.decide({ ...state, dropoutKeep }), temperature)
  const fixed = new PlainDistribution(reference.decide({ ...state, dropoutKeep: null }), temperature)
  return {
    logProbability: current.logProbability(action),
    divergence: current.divergence(fixed),
    entropy: current.entropy(),
  }
}

function meanOf(terms: readonly Value[]): Value {
  const [first, ...rest] = terms
  if (first === undefined) throw new RangeError('There is no recorded position to learn from.')
  return scale(add(first, ...rest), 1 / terms.length)
}
