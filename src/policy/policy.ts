import type { AgentGraph } from '../graph/agent-graph.ts'
import { type ConstructionSpace, legalityMasks, type Restriction } from '../graph/legality.ts'
import { type RoleSpace, realizations } from '../library/role-space.ts'
import type { ParameterValues } from '../numerics/parameters.ts'
import { Tape } from '../numerics/tape.ts'
import { type Tensor, Workspace } from '../numerics/workspace.ts'
import type { DecisionBatch } from './decision-heads.ts'
import { ActionDistribution } from './distribution.ts'
import type { NetworkState } from './edge-aware-gru.ts'
import { initializeParameters } from './initialization.ts'
import { legalLogits } from './legal-logits.ts'
import { PolicyNetwork, type QueryFeatures } from './network.ts'
import { type PolicyDimensions, paperDropout } from './parameter-shapes.ts'
import { PolicyParameters } from './parameters.ts'
import type { SemanticTables } from './semantic-tables.ts'
import { applyGain, placeSemantics, type RoleVectors } from './semantics.ts'

export interface PolicyOptions {
  readonly dimensions: PolicyDimensions
  readonly roles: RoleSpace
  /** In the order of the roles. */
  readonly vectors: readonly RoleVectors[]
  /** Dropout rate of v_i in training. Default: the paper's. */
  readonly dropoutRate?: number
  /**
   * Factor applied to the frozen vectors of roles and questions where they enter the network. Default: 1, as in the
   * paper. These vectors have norm 1 and sit next to states of norm √hidden, which drown them out.
   */
  readonly gain?: number
}

/** A construction policy: parameters, the role library they are for, and the network. */
export class ConstructionPolicy {
  readonly options: PolicyOptions
  readonly dropoutRate: number
  readonly gain: number
  readonly workspace: Workspace
  readonly parameters: PolicyParameters
  readonly network: PolicyNetwork
  /** Where the tables start in the workspace. */
  readonly #place: number
  #tables: SemanticTables
  #tablesVersion: number

  constructor(
    options: PolicyOptions,
    values: ParameterValues,
    placement?: { workspace: Workspace; frozen: boolean },
  ) {
    this.options = options
    this.dropoutRate = options.dropoutRate ?? paperDropout
    this.gain = options.gain ?? 1
    if (!(this.gain > 0 && this.gain < Infinity))
      throw new RangeError(`The gain is ${this.gain}; it must be a number above 0.`)
    this.workspace = placement?.workspace ?? new Workspace()
    this.parameters = new PolicyParameters(this.workspace, options.dimensions, {
      frozen: placement?.frozen ?? false,
    })
    this.parameters.write(values)
    const semantics = placeSemantics(
      this.workspace,
      options.roles,
      options.vectors,
      options.dimensions.semantic,
      this.gain,
    )
    this.network = new PolicyNetwork(this.parameters, options.roles, semantics, this.dropoutRate)
    this.#place = this.workspace.mark()
    this.#tables = this.#buildTables()
    this.#tablesVersion = this.parameters.version
  }

  /** An untrained policy. */
  static initialize(options: PolicyOptions, seed: number): ConstructionPolicy {
    return new ConstructionPolicy(options, initializeParameters(options.dimensions, seed))
  }

  /** A frozen copy, taken before the first update: the reference of the KL term. It lives in the same workspace. */
  freeze(values: ParameterValues = this.parameters.read()): ConstructionPolicy {
    return new ConstructionPolicy(this.options, values, { workspace: this.workspace, frozen: true })
  }

  space(restriction: Restriction): ConstructionSpace {
    const { maxUnits, maxDepth } = this.options.dimensions
    return { roles: this.options.roles, restriction, maxUnits, maxDepth }
  }

  #buildTables(): SemanticTables {
    const branches = this.options.roles.roles.flatMap((role, index) =>
      realizations.flatMap((realization, z) => (role[realization] ? [index * 2 + z] : [])),
    )
    return this.network.tables(new Tape(this.workspace, { recording: false }), branches, true)
  }

  /** The tables for the current parameters, recomputed in place after a change. */
  #currentTables(): SemanticTables {
    if (this.#tablesVersion === this.parameters.version) return this.#tables
    const top = this.workspace.mark()
    this.workspace.release(this.#place)
    this.#tables = this.#buildTables()
    this.#tablesVersion = this.parameters.version
    this.workspace.release(top)
    return this.#tables
  }

  /** Runs `pass` and then frees everything it allocated. */
  scratch<T>(pass: () => T): T {
    const mark = this.workspace.mark()
    try {
      return pass()
    } finally {
      this.workspace.release(mark)
    }
  }

  placeQueries(queries: readonly ArrayLike<number>[]): Tensor {
    const { semantic } = this.options.dimensions
    const rows = new Float32Array(queries.length * semantic)
    for (const [row, query] of queries.entries()) {
      if (query.length !== semantic) {
        throw new Error(`A query embedding has ${query.length} entries, but the policy needs ${semantic}.`)
      }
      rows.set(query, row * semantic)
    }
    applyGain(rows, this.gain)
    return this.workspace.constant(rows, queries.length, semantic)
  }

  /** Precomputes what depends only on the queries. Without dropout, this includes the GRU's input projection. */
  prepareQueries(queries: readonly ArrayLike<number>[], { dropout }: { dropout: boolean }): QueryFeatures {
    const tape = new Tape(this.workspace, { recording: false })
    return this.network.queries(tape, this.placeQueries(queries), !dropout)
  }

  /** Decision contexts under the current parameters, without recording gradients. */
  decide(queries: QueryFeatures, states: readonly NetworkState[]): DecisionBatch {
    const tape = new Tape(this.workspace, { recording: false })
    return this.network.decide(tape, this.#currentTables(), queries, states)
  }

  /** The full distribution at one state, with intermediate values. For inspection; not fast. */
  inspect(
    query: ArrayLike<number>,
    graph: AgentGraph,
    options: {
      restriction?: Restriction
      temperature?: number
      dropoutKeep?: readonly Uint8Array[] | null
    } = {},
  ) {
    const masks = legalityMasks(graph, this.space(options.restriction ?? 'mixed'))
    return this.scratch(() => {
      const dropoutKeep = options.dropoutKeep ?? null
      const queries = this.prepareQueries([query], { dropout: dropoutKeep !== null })
      const batch = this.decide(queries, [{ graph, query: 0, dropoutKeep }])
      const [logits] = legalLogits(batch, [masks], this.workspace).values
      return {
        masks,
        logits: logits!,
        context: this.workspace.values(batch.context).slice(),
        nodeStates: batch.nodeStates(0),
        distribution: new ActionDistribution(this.options.roles, masks, logits!, options.temperature ?? 1),
      }
    })
  }
}

export type Inspection = ReturnType<ConstructionPolicy['inspect']>
