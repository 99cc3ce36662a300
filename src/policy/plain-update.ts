import type { AgentGraph } from '../graph/agent-graph.ts'
import type { Action, Restriction } from '../graph/legality.ts'
import { type AdamSettings, type AdamState, adamStep } from '../numerics/plain/adam.ts'
import { add, scale } from '../numerics/plain/operations.ts'
import type { Value } from '../numerics/plain/value.ts'
import type { PlainParameters } from './parameter-shapes.ts'
import { PlainDistribution } from './plain-distribution.ts'
import { PlainNetwork } from './plain-network.ts'

/** One action of a trajectory and what it was decided on. */
export interface RecordedPosition {
  /** The graph before the action. */
  readonly graph: AgentGraph
  readonly action: Action
  /** The mask of the pass that the action was sampled from; null when nothing was dropped. */
  readonly dropoutKeep: readonly Uint8Array[] | null
}

/** Trajectories of one query, STOP last in each, with the advantage of every position. */
export interface RecordedGroup {
  readonly query: Float64Array
  readonly restriction: Restriction
  readonly temperature: number
  readonly trajectories: readonly (readonly RecordedPosition[])[]
  readonly advantages: readonly (readonly number[])[]
}

export interface LossWeights {
  /** β_KL */
  readonly divergence: number
  /** β_H */
  readonly entropy: number
}

/** The loss with its parts, per position and on average, and the gradient of every tensor. */
export interface PlainLoss {
  readonly logProbabilities: number[][]
  readonly divergences: number[][]
  readonly entropies: number[][]
  readonly loss: number
  /** Mean of −A log π. */
  readonly policyLoss: number
  readonly meanDivergence: number
  readonly meanEntropy: number
  readonly gradients: Map<string, Float64Array>
}

/** What an update changes: the weights, and the moments of the optimizer. */
export interface PlainTraining {
  readonly parameters: PlainParameters
  readonly adam: AdamState
}

/**
 * The mean over all recorded positions of −sg(A) log π + β_KL KL − β_H H, differentiated. The reference is a frozen
 * network; its options are the policy's too.
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

/** One update: the loss, its gradients, a step of Adam. State goes in and comes out, nothing is changed in place. */
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

/** One forward pass of the policy, with its recorded mask, and one of the reference, which never drops anything. */
function measure(
  policy: PlainNetwork,
  reference: PlainNetwork,
  { graph, action, dropoutKeep }: RecordedPosition,
  { query, restriction, temperature }: RecordedGroup,
): Measured {
  const state = { query, graph, restriction }
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
