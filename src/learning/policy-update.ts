import { IllegalActionError, legalityMasks, whyIllegal } from '../graph/legality.ts'
import { type RoleSpace, realizations } from '../library/role-space.ts'
import { Adam, type AdamSettings, type BlockParts, paperAdam } from '../numerics/adam.ts'
import { Tape } from '../numerics/tape.ts'
import type { WeightGradients } from '../numerics/weight-gradients.ts'
import type { Tensor } from '../numerics/workspace.ts'
import { ActionDistribution, emptyLogits } from '../policy/distribution.ts'
import type { NetworkState } from '../policy/edge-aware-gru.ts'
import { weightMatrices } from '../policy/network-weights.ts'
import { type ConstructionPolicy, wholeLogits } from '../policy/policy.ts'
import {
  type LossWeights,
  paperLossWeights,
  type RecordedGroup,
  type UpdateReport,
} from './recorded-group.ts'

/** Policy, frozen reference and optimizer of one training. */
export class PolicyLearner {
  readonly policy: ConstructionPolicy
  readonly reference: ConstructionPolicy
  readonly adam: Adam
  readonly weights: LossWeights
  readonly #parts: BlockParts

  constructor(
    policy: ConstructionPolicy,
    options: { adam?: AdamSettings; weights?: LossWeights; reference?: ConstructionPolicy } = {},
  ) {
    this.policy = policy
    this.reference = options.reference ?? policy.freeze()
    this.adam = new Adam(policy.workspace, policy.parameters.block, options.adam ?? paperAdam)
    this.weights = options.weights ?? paperLossWeights
    this.#parts = policy.parameters.partition(weightMatrices(policy.network.weights))
  }

  /** One optimizer step on the loss of a group. A non-finite loss or gradient stops it before any weight changes. */
  update(group: RecordedGroup): UpdateReport {
    return this.#differentiate(group, (gradients) => {
      if (gradients.surelyFinite() && this.#parts.others.every((tensor) => this.#isFinite(tensor))) {
        this.adam.stepWith(gradients, this.#parts)
        this.policy.parameters.markChanged()
      } else {
        gradients.write()
        this.applyGradients()
      }
    })
  }

  /** The loss of a group, with its gradients added to the parameters' buffers: `update` in two steps, for looking at. */
  accumulateGradients(group: RecordedGroup): UpdateReport {
    return this.#differentiate(group, (gradients) => gradients.write())
  }

  applyGradients(): void {
    this.#assertFiniteGradients()
    this.adam.step()
    this.policy.parameters.markChanged()
  }

  /** Mean over all recorded positions of −sg(A)·log π + β_KL·KL − β_H·H; `use` gets its gradients while they are there. */
  #differentiate(group: RecordedGroup, use: (gradients: WeightGradients) => void): UpdateReport {
    const positions = group.trajectories.flatMap((steps, trajectory) =>
      steps.map((step, position) => ({
        step,
        trajectory,
        position,
        advantage: advantageAt(group, trajectory, position),
      })),
    )
    // A STOP forced by the unit limit has log-probability, KL and entropy zero and sends no gradient. It needs no pass,
    // yet it stays in the mean: the paper averages over every position.
    const { maxUnits } = this.policy.options.dimensions
    const decided = positions.filter(({ step }) => step.graph.size !== maxUnits)
    const zero = () => group.trajectories.map((steps) => new Array<number>(steps.length).fill(0))
    const report = { logProbabilities: zero(), divergences: zero(), entropies: zero() }
    const sums = { policy: 0, divergence: 0, entropy: 0 }
    const scale = 1 / positions.length

    const space = this.policy.space(group.restriction)
    for (const { step } of positions) {
      const reason = whyIllegal(step.action, step.graph, space)
      if (reason !== undefined) throw new IllegalActionError(reason)
    }

    return this.policy.scratch(() => {
      const [states, stateOf] = distinctStates(decided.map(({ step }) => step))
      const masks = states.map(({ graph }) => legalityMasks(graph, space))
      const reference = this.#referenceLogits(group.query, states, masks)
      const tape = new Tape(this.policy.workspace, { recording: true })
      const { network, options } = this.policy
      const tables = network.tables(tape, usedBranches(states, options.roles))
      const queries = network.queries(tape, this.policy.placeQueries([group.query]))
      const batch = network.decide(tape, tables, queries, states)
      const logits = wholeLogits(batch, masks, this.policy.workspace)
      const gradients = states.map(({ graph }) => emptyLogits(options.roles.roles.length, graph.size))
      const distributions = states.map((_, state) => {
        const own = new ActionDistribution(
          options.roles,
          masks[state]!,
          logits.values[state]!,
          group.temperature,
        )
        const other = new ActionDistribution(
          options.roles,
          masks[state]!,
          reference[state]!,
          group.temperature,
        )
        return { own, other, divergence: own.divergence(other), entropy: own.entropy() }
      })

      for (const [index, { step, advantage, trajectory, position }] of decided.entries()) {
        const state = stateOf[index]!
        const { own, other, divergence, entropy } = distributions[state]!
        const logProbability = own.logProbability(step.action)
        report.logProbabilities[trajectory]![position] = logProbability
        report.divergences[trajectory]![position] = divergence
        report.entropies[trajectory]![position] = entropy
        sums.policy -= advantage * logProbability
        sums.divergence += divergence
        sums.entropy += entropy
        const loss = {
          advantage,
          action: step.action,
          divergenceWeight: this.weights.divergence,
          entropyWeight: this.weights.entropy,
        }
        own.addLossGradient(loss, other, scale, gradients[state]!)
      }
      const policyLoss = sums.policy * scale
      const meanDivergence = sums.divergence * scale
      const meanEntropy = sums.entropy * scale
      const loss = policyLoss + this.weights.divergence * meanDivergence - this.weights.entropy * meanEntropy
      if (!Number.isFinite(loss)) throw new NonFiniteUpdateError('the loss', loss)
      logits.writeGradients(gradients)
      use(tape.propagate())
      return { loss, policyLoss, meanDivergence, meanEntropy, ...report }
    })
  }

  #referenceLogits(
    query: ArrayLike<number>,
    states: readonly NetworkState[],
    masks: Parameters<typeof wholeLogits>[1],
  ): ReturnType<typeof wholeLogits>['values'] {
    return this.reference.scratch(() => {
      // The reference is always in evaluation mode, so states that differ only in their masks are one to it.
      const [distinct, stateOf] = distinctStates(states.map((state) => ({ ...state, dropoutKeep: null })))
      const distinctMasks = distinct.map((_, state) => masks[stateOf.indexOf(state)]!)
      const batch = this.reference.decide(
        this.reference.prepareQueries([query], { dropout: false }),
        distinct,
      )
      const { values } = wholeLogits(batch, distinctMasks, this.reference.workspace)
      return stateOf.map((state) => values[state]!)
    })
  }

  #assertFiniteGradients(): void {
    const { parameters, workspace } = this.policy
    if (this.#isFinite(parameters.block)) return
    for (const name of parameters.names) {
      const bad = workspace.gradients(parameters.tensor(name)).find((value) => !Number.isFinite(value))
      if (bad === undefined) continue
      this.#discardGradients()
      throw new NonFiniteUpdateError(`the gradient of ${name}`, bad)
    }
  }

  #isFinite(tensor: Tensor): boolean {
    return this.policy.workspace.kernels.allFinite(tensor.rows * tensor.columns, tensor.gradient) !== 0
  }

  #discardGradients(): void {
    this.policy.workspace.gradients(this.policy.parameters.block).fill(0)
  }
}

/**
 * Each state once, and for every given one where it stands. A mask makes a state its own; without one, or without units
 * to drop anything from, equal graphs are equal states: above all the empty graph that every trajectory starts from.
 */
function distinctStates(
  states: readonly Omit<NetworkState, 'query'>[],
): [distinct: NetworkState[], stateOf: number[]] {
  const distinct: NetworkState[] = []
  const seen = new Map<string, number>()
  const stateOf = states.map(({ graph, dropoutKeep }) => {
    const key = dropoutKeep === null || graph.size === 0 ? JSON.stringify(graph) : `masked ${distinct.length}`
    const known = seen.get(key)
    if (known !== undefined) return known
    seen.set(key, distinct.length)
    return distinct.push({ graph, query: 0, dropoutKeep }) - 1
  })
  return [distinct, stateOf]
}

function advantageAt({ advantages }: RecordedGroup, trajectory: number, position: number): number {
  const advantage = advantages[trajectory]?.[position]
  if (advantage === undefined)
    throw new RangeError(`Action ${position} of trajectory ${trajectory} has no advantage.`)
  // Said here, because that of a forced STOP would go unnoticed: it is multiplied by a log-probability of zero.
  if (!Number.isFinite(advantage))
    throw new NonFiniteUpdateError(
      `the advantage of action ${position} of trajectory ${trajectory}`,
      advantage,
    )
  return advantage
}

/** The realizations of all units. One that its role lacks is left out: the encoder then refuses the graph. */
function usedBranches(states: readonly NetworkState[], { roles, indexOf }: RoleSpace): number[] {
  const units = states.flatMap(({ graph }) => graph.units)
  return units
    .filter(({ role, realization }) => roles[indexOf(role)]![realization])
    .map(({ role, realization }) => indexOf(role) * 2 + realizations.indexOf(realization))
}

export class NonFiniteUpdateError extends Error {
  override name = 'NonFiniteUpdateError'
  constructor(what: string, value: number) {
    super(`The update was not applied: ${what} is ${value}. The weights are as they were before it.`)
  }
}
