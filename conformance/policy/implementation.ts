import type { AgentGraph } from '../../src/graph/agent-graph.ts'
import type { Action, LegalityMasks, Restriction } from '../../src/graph/legality.ts'
import type { LossWeights, RecordedGroup, UpdateReport } from '../../src/learning/loss.ts'
import type { RoleSpace } from '../../src/library/role-space.ts'
import type { AdamSettings } from '../../src/numerics/adam.ts'
import type { PlainParameters, PolicyDimensions } from '../../src/policy/parameter-shapes.ts'
import type { RoleVectors } from '../../src/policy/semantics.ts'

/** The setup of a golden file's states and updates. Numbers are exact as written. */
export interface PolicySetup {
  readonly dimensions: PolicyDimensions
  readonly dropoutRate: number
  readonly roles: RoleSpace
  /** In the order of the roles. */
  readonly embeddings: readonly RoleVectors[]
  readonly policy: PlainParameters
  readonly reference: PlainParameters
}

/** One decision to compute, not to sample. */
export interface Decision {
  readonly query: Float64Array
  readonly graph: AgentGraph
  readonly restriction: Restriction
  readonly temperature: number
  /** Per unit, H entries of 0 or 1; null in evaluation mode. */
  readonly dropoutKeep: readonly Uint8Array[] | null
}

/** Untempered logits, flat like the masks; values where the mask is 0 are meaningless. */
export interface Evaluation {
  readonly context: ArrayLike<number>
  readonly nodeStates: readonly ArrayLike<number>[]
  readonly masks: LegalityMasks
  readonly roleLogits: ArrayLike<number>
  readonly granularityLogits: ArrayLike<number>
  readonly edgeLogits: ArrayLike<number>
  /** Of the tempered policy; minus infinity, or an error, for an illegal action. */
  readonly logProbability: (action: Action) => number
  readonly entropy: number
  /** From the policy to the reference. */
  readonly divergence: number
}

export interface UpdateSettings {
  readonly loss: LossWeights
  readonly adam: AdamSettings
}

/** The values of an update; tensors are flat and row-major. */
export interface Updated extends UpdateReport {
  readonly gradients: ReadonlyMap<string, ArrayLike<number>>
  readonly weightsAfter: ReadonlyMap<string, ArrayLike<number>>
}

/** A loaded policy and its reference. Weights and moments carry over from update to update. */
export interface OpenPolicy {
  evaluate(decision: Decision): Evaluation
  update(group: RecordedGroup, settings: UpdateSettings): Updated
}

/** One implementation of the policy. Every golden state and update is checked with each. */
export interface PolicyImplementation {
  readonly name: string
  /** Selects the tolerances. */
  readonly precision: 'float32' | 'float64'
  /** Starts over from the setup's weights, with fresh moments. */
  open(setup: PolicySetup): OpenPolicy | Promise<OpenPolicy>
}
