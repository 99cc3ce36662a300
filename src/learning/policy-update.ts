import { legalityMasks, type Restriction } from '../graph/legality.ts'
import { realizations } from '../library/role-space.ts'
import { Adam, type AdamSettings, paperAdam } from '../numerics/adam.ts'
import { Tape } from '../numerics/tape.ts'
import type { ConstructionStep } from '../policy/construction.ts'
import { ActionDistribution, emptyLogits } from '../policy/distribution.ts'
import type { NetworkState } from '../policy/network.ts'
import { type ConstructionPolicy, wholeLogits } from '../policy/policy.ts'

export interface LossWeights {
  readonly kl: number
  readonly entropy: number
}

export const paperLossWeights: LossWeights = { kl: 0.01, entropy: 0.001 }

/** The trajectories of one query's group with the advantage of every recorded action. */
export interface CreditedGroup {
  readonly query: ArrayLike<number>
  readonly restriction: Restriction
  readonly temperature: number
  readonly trajectories: readonly {
    readonly steps: readonly ConstructionStep[]
    readonly advantages: readonly number[]
  }[]
}

/** What one update did, position by position and on average. */
export interface UpdateReport {
  readonly loss: number
  readonly policyLoss: number
  readonly meanKl: number
  readonly meanEntropy: number
  readonly logProbabilities: readonly (readonly number[])[]
  readonly kls: readonly (readonly number[])[]
  readonly entropies: readonly (readonly number[])[]
}

/** Policy, frozen reference and optimizer of one training. */
export class PolicyLearner {
  readonly policy: ConstructionPolicy
  readonly reference: ConstructionPolicy
  readonly adam: Adam
  readonly weights: LossWeights

  constructor(
    policy: ConstructionPolicy,
    options: { adam?: AdamSettings; weights?: LossWeights; reference?: ConstructionPolicy } = {},
  ) {
    this.policy = policy
    this.reference = options.reference ?? policy.freeze()
    this.adam = new Adam(policy.workspace, policy.parameters.block, options.adam ?? paperAdam)
    this.weights = options.weights ?? paperLossWeights
  }

  /** One optimizer step on the loss of a group. A non-finite loss or gradient stops it before any weight changes. */
  update(group: CreditedGroup): UpdateReport {
    const report = this.accumulateGradients(group)
    this.applyGradients()
    return report
  }

  applyGradients(): void {
    this.#assertFiniteGradients()
    this.adam.step()
    this.policy.parameters.markChanged()
  }

  /** Mean over all recorded positions of −sg(A)·log π + β_KL·KL − β_H·H, and its gradients. */
  accumulateGradients(group: CreditedGroup): UpdateReport {
    const positions = group.trajectories.flatMap(({ steps, advantages }, trajectory) =>
      steps.map((step, position) => ({ step, advantage: advantages[position]!, trajectory, position })),
    )
    // A STOP forced by the unit limit has log-probability, KL and entropy zero and sends no gradient. It needs no pass,
    // yet it stays in the mean: the paper averages over every position.
    const { maxUnits } = this.policy.options.dimensions
    const decided = positions.filter(({ step }) => step.graph.size < maxUnits)
    const zero = () => group.trajectories.map(({ steps }) => new Array<number>(steps.length).fill(0))
    const report = { logProbabilities: zero(), kls: zero(), entropies: zero() }
    const sums = { policy: 0, kl: 0, entropy: 0 }
    const scale = 1 / positions.length

    this.policy.scratch(() => {
      const space = this.policy.space(group.restriction)
      const masks = decided.map(({ step }) => legalityMasks(step.graph, space))
      const states = decided.map(({ step }) => ({
        graph: step.graph,
        query: 0,
        dropoutKeep: step.dropoutKeep,
      }))
      const reference = this.#referenceLogits(group.query, states, masks)
      const tape = new Tape(this.policy.workspace, { recording: true })
      const { network, options } = this.policy
      const tables = network.tables(
        tape,
        usedBranches(states, (role) => options.roles.indexOf(role)),
      )
      const queries = network.queries(tape, this.policy.placeQueries([group.query]))
      const batch = network.decide(tape, tables, queries, states)
      const logits = wholeLogits(batch, masks, this.policy.workspace)
      const gradients = masks.map((mask) =>
        emptyLogits(options.roles.roles.length, mask.edges.length / mask.realizations.length),
      )

      for (const [index, { step, advantage, trajectory, position }] of decided.entries()) {
        const own = new ActionDistribution(
          options.roles,
          masks[index]!,
          logits.values[index]!,
          group.temperature,
        )
        const other = new ActionDistribution(
          options.roles,
          masks[index]!,
          reference[index]!,
          group.temperature,
        )
        const logProbability = own.logProbability(step.action)
        const kl = own.kl(other)
        const entropy = own.entropy()
        report.logProbabilities[trajectory]![position] = logProbability
        report.kls[trajectory]![position] = kl
        report.entropies[trajectory]![position] = entropy
        sums.policy -= advantage * logProbability
        sums.kl += kl
        sums.entropy += entropy
        const loss = {
          advantage,
          action: step.action,
          klWeight: this.weights.kl,
          entropyWeight: this.weights.entropy,
        }
        own.addLossGradient(loss, other, scale, gradients[index]!)
      }
      logits.writeGradients(gradients)
      tape.backward()
    })
    const policyLoss = sums.policy * scale
    const meanKl = sums.kl * scale
    const meanEntropy = sums.entropy * scale
    const loss = policyLoss + this.weights.kl * meanKl - this.weights.entropy * meanEntropy
    if (!Number.isFinite(loss)) {
      this.#discardGradients()
      throw new NonFiniteUpdateError('the loss', loss)
    }
    return { loss, policyLoss, meanKl, meanEntropy, ...report }
  }

  #referenceLogits(
    query: ArrayLike<number>,
    states: readonly NetworkState[],
    masks: Parameters<typeof wholeLogits>[1],
  ): ReturnType<typeof wholeLogits>['values'] {
    return this.policy.scratch(() => {
      // The reference is always in evaluation mode.
      const undropped = states.map((state) => ({ ...state, dropoutKeep: null }))
      const batch = this.reference.decide(this.reference.queryFeatures([query]), undropped)
      return wholeLogits(batch, masks, this.reference.workspace).values
    })
  }

  #assertFiniteGradients(): void {
    const { parameters, workspace } = this.policy
    if (workspace.kernels.allFinite(parameters.block.columns, parameters.block.gradient)) return
    for (const name of parameters.names) {
      const bad = workspace.gradients(parameters.tensor(name)).find((value) => !Number.isFinite(value))
      if (bad === undefined) continue
      this.#discardGradients()
      throw new NonFiniteUpdateError(`the gradient of ${name}`, bad)
    }
  }

  #discardGradients(): void {
    this.policy.workspace.gradients(this.policy.parameters.block).fill(0)
  }
}

function usedBranches(states: readonly NetworkState[], indexOf: (role: string) => number): number[] {
  return states.flatMap(({ graph }) =>
    graph.units.map(({ role, realization }) => indexOf(role) * 2 + realizations.indexOf(realization)),
  )
}

export class NonFiniteUpdateError extends Error {
  override name = 'NonFiniteUpdateError'
  constructor(what: string, value: number) {
    super(`The update was not applied: ${what} is ${value}. The weights are as they were before it.`)
  }
}
