import {
  type ConstructionSpace,
  IllegalActionError,
  type LegalityMasks,
  legalityMasks,
  whyIllegal,
} from '../graph/legality.ts'
import { type RoleSpace, realizations } from '../library/role-space.ts'
import { Adam, type AdamSettings, type BlockParts, paperAdam } from '../numerics/adam.ts'
import { Tape } from '../numerics/tape.ts'
import type { WeightGradients } from '../numerics/weight-gradients.ts'
import type { Tensor } from '../numerics/workspace.ts'
import { ActionDistribution, emptyLogits, type Logits } from '../policy/distribution.ts'
import type { NetworkState } from '../policy/edge-aware-gru.ts'
import { legalLogits } from '../policy/legal-logits.ts'
import type { PolicyParameters } from '../policy/parameters.ts'
import type { ConstructionPolicy } from '../policy/policy.ts'
import { requireFinite } from './finite.ts'
import {
  groupLoss,
  type LossWeights,
  paperLossWeights,
  type RecordedGroup,
  recordedIn,
  type UpdateReport,
} from './loss.ts'

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
    this.#parts = policy.parameters.parts
  }

  get parameters(): PolicyParameters {
    return this.policy.parameters
  }

  /** One optimizer step on the loss of a group. Throws if the loss or a gradient is not finite; then no weight changes. */
  update(group: RecordedGroup): UpdateReport {
    return this.updateTogether([group])[0]!
  }

  /** One optimizer step on the groups of several queries, with the mean taken over all their positions. */
  updateTogether(groups: readonly RecordedGroup[]): UpdateReport[] {
    return this.#differentiate(groups, (gradients) => {
      if (gradients.surelyFinite() && this.#parts.others.every((tensor) => this.#isFinite(tensor))) {
        this.adam.stepWith(gradients, this.#parts)
        this.policy.parameters.markChanged()
      } else {
        gradients.write()
        this.applyGradients()
      }
    })
  }

  /** Adds a group's gradients to the parameters' buffers. Together with `applyGradients`, this is `update` in two steps. */
  accumulateGradients(group: RecordedGroup): UpdateReport {
    return this.#differentiate([group], (gradients) => gradients.write())[0]!
  }

  applyGradients(): void {
    const { parameters, workspace } = this.policy
    if (!this.#isFinite(parameters.block))
      for (const name of parameters.names) {
        const bad = workspace.gradients(parameters.tensor(name)).find((value) => !Number.isFinite(value))
        if (bad === undefined) continue
        workspace.gradients(parameters.block).fill(0)
        requireFinite(bad, `gradient of ${name}`)
      }
    this.adam.step()
    parameters.markChanged()
  }

  /** Forward pass, loss, backward pass. `use` gets the gradients before their memory is released. */
  #differentiate(
    groups: readonly RecordedGroup[],
    use: (gradients: WeightGradients) => void,
  ): UpdateReport[] {
    const { network, options, workspace } = this.policy
    const spaces = groups.map(({ restriction }) => this.policy.space(restriction))
    const positions = groups.flatMap((group, query) => recordedPositions(group, query, spaces[query]!))
    const decided = positions.filter(({ graph }) => graph.size !== options.dimensions.maxUnits)
    return this.policy.scratch(() => {
      const [states, stateOf] = distinctStates(decided)
      const masks = states.map(({ graph, query }) => legalityMasks(graph, spaces[query]!))
      const vectors = groups.map(({ query }) => query)
      const reference = this.#referenceLogits(vectors, states, masks)
      const tape = new Tape(workspace, { recording: true })
      const tables = network.tables(tape, usedBranches(states, options.roles))
      const queries = network.queries(tape, this.policy.placeQueries(vectors))
      const logits = legalLogits(network.decide(tape, tables, queries, states), masks, workspace)

      const distribution = (state: number, values: Logits) =>
        new ActionDistribution(
          options.roles,
          masks[state]!,
          values,
          groups[states[state]!.query]!.temperature,
        )
      const visited = states.map(({ graph }, state) => ({
        policy: distribution(state, logits.values[state]!),
        reference: distribution(state, reference[state]!),
        gradient: emptyLogits(options.roles.roles.length, graph.size),
      }))
      const placed = decided.map((position, index) => ({ ...position, state: visited[stateOf[index]!]! }))
      const recorded = groups.reduce((sum, group) => sum + recordedIn(group), 0)
      const reports = groups.map((group, query) => {
        const own = placed.filter((position) => position.query === query)
        const report = groupLoss(group, own, this.weights, recorded)
        requireFinite(report.loss, 'loss')
        return report
      })
      logits.writeGradients(visited.map(({ gradient }) => gradient))
      use(tape.propagate())
      return reports
    })
  }

  #referenceLogits(
    queries: readonly ArrayLike<number>[],
    states: readonly NetworkState[],
    masks: readonly LegalityMasks[],
  ): Logits[] {
    const { reference } = this
    return reference.scratch(() => {
      // The reference never drops out, so states that differ only in their dropout mask are the same to it.
      const [distinct, stateOf] = distinctStates(
        states.map(({ graph, query }) => ({ graph, query, dropoutKeep: null })),
      )
      const distinctMasks = distinct.map((_, state) => masks[stateOf.indexOf(state)]!)
      const batch = reference.decide(reference.prepareQueries(queries, { dropout: false }), distinct)
      const { values } = legalLogits(batch, distinctMasks, reference.workspace)
      return stateOf.map((state) => values[state]!)
    })
  }

  #isFinite(tensor: Tensor): boolean {
    return this.policy.workspace.kernels.allFinite(tensor.rows * tensor.columns, tensor.gradient) !== 0
  }
}

/** Every recorded step with its advantage. Throws for illegal actions and for missing or non-finite advantages. */
function recordedPositions(group: RecordedGroup, query: number, space: ConstructionSpace) {
  return group.trajectories.flatMap((steps, trajectory) =>
    steps.map((step, position) => {
      const advantage = group.advantages[trajectory]?.[position]
      if (advantage === undefined)
        throw new RangeError(`Action ${position} of trajectory ${trajectory} has no advantage.`)
      // Checked here, because a forced STOP multiplies its advantage by zero, which would hide the problem from the
      // loss.
      requireFinite(advantage, `advantage of action ${position} of trajectory ${trajectory}`)
      const reason = whyIllegal(step.action, step.graph, space)
      if (reason !== undefined) throw new IllegalActionError(reason)
      return { ...step, query, trajectory, position, advantage }
    }),
  )
}

/**
 * The distinct states, and the index of every given state among them. Equal graphs are one state (such as the empty
 * graph that every trajectory starts from) unless their dropout masks differ.
 */
function distinctStates(states: readonly NetworkState[]): [distinct: NetworkState[], stateOf: number[]] {
  const distinct: NetworkState[] = []
  const seen = new Map<string, number>()
  const stateOf = states.map(({ graph, query, dropoutKeep }) => {
    const isMasked = dropoutKeep !== null && graph.size > 0
    const key = isMasked ? `masked ${distinct.length}` : `${query} ${JSON.stringify(graph)}`
    const known = seen.get(key)
    if (known !== undefined) return known
    seen.set(key, distinct.length)
    return distinct.push({ graph, query, dropoutKeep }) - 1
  })
  return [distinct, stateOf]
}

/**
 * The branches (role and realization) of all units. A realization its role lacks is skipped; the encoder rejects that
 * graph later.
 */
function usedBranches(states: readonly NetworkState[], { roles, indexOf }: RoleSpace): number[] {
  const units = states.flatMap(({ graph }) => graph.units)
  return units
    .filter(({ role, realization }) => roles[indexOf(role)]![realization])
    .map(({ role, realization }) => indexOf(role) * 2 + realizations.indexOf(realization))
}
