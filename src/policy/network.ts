import type { RoleSpace } from '../library/role-space.ts'
import type { Tape } from '../numerics/tape.ts'
import { columnsOf, type Tensor } from '../numerics/workspace.ts'
import { decisionContext, queryContext } from './decision-context.ts'
import { type DecisionBatch, decisionHeads } from './decision-heads.ts'
import { encodeUnits, type NetworkState } from './edge-aware-gru.ts'
import { type NetworkWeights, networkWeights } from './network-weights.ts'
import type { PolicyParameters } from './parameters.ts'
import { poolingKeys, poolUnits } from './pooling.ts'
import { headTables, type SemanticTables, unitTable } from './semantic-tables.ts'
import type { Semantics } from './semantics.ts'

export type QueryFeatures = ReturnType<PolicyNetwork['queries']>

/**
 * The construction policy's network (the paper's appendix A.2), batched over decisions. Its equations are in
 * `edge-aware-gru.ts`, `pooling.ts`, `decision-context.ts` and `decision-heads.ts`. `reference/network.ts` is its
 * slow, plain twin.
 */
export class PolicyNetwork {
  readonly weights: NetworkWeights
  readonly roles: RoleSpace
  readonly dropoutScale: number
  readonly #semantics: Semantics

  constructor(parameters: PolicyParameters, roles: RoleSpace, semantics: Semantics, dropoutRate: number) {
    this.weights = networkWeights(parameters.dimensions, (name) => parameters.tensor(name), columnsOf)
    this.roles = roles
    this.dropoutScale = 1 / (1 - dropoutRate)
    this.#semantics = semantics
  }

  /** `unitBranches`: the branches of all units in the coming decisions. `folded` tables are for decisions without dropout. */
  tables(tape: Tape, unitBranches: Iterable<number>, folded = false): SemanticTables {
    const units = unitTable(tape, this.weights, this.#semantics, unitBranches, folded)
    return { units, ...headTables(tape, this.weights, this.#semantics) }
  }

  /** What depends only on the queries, computed once for all their decisions. */
  queries(tape: Tape, queries: Tensor, folded = false) {
    const { query, gru } = this.weights
    const unit = tape.linear(queries, query)
    return {
      unit,
      folded: folded ? tape.bias(gru.inputBias, tape.linear(unit, gru.input)) : undefined,
      poolingKeys: poolingKeys(tape, this.weights, queries),
      context: queryContext(tape, this.weights, queries),
    }
  }

  /** Encodes the graphs and computes the decision contexts c_t. Returns the heads on them. */
  decide(
    tape: Tape,
    tables: SemanticTables,
    queries: QueryFeatures,
    states: readonly NetworkState[],
  ): DecisionBatch {
    const { weights } = this
    const units = encodeUnits(tape, this, states, tables.units, queries)
    const queryRows = tape.indices(states.map((state) => state.query))
    const pooled = poolUnits(tape, weights, units, queries.poolingKeys, queryRows)
    const progress = states.map(({ graph }) => graph.size / weights.positionEmbedding.rows)
    const context = decisionContext(tape, weights, queries.context, queryRows, pooled, progress)
    return decisionHeads(tape, weights, tables, context, units)
  }
}
