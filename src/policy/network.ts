import type { RoleSpace } from '../library/role-space.ts'
import type { Tape } from '../numerics/tape.ts'
import { rowsOf, type Tensor, type Workspace } from '../numerics/workspace.ts'
import { DecisionBatch } from './decision-heads.ts'
import { encodeUnits, type NetworkState } from './edge-aware-gru.ts'
import { type NetworkWeights, nameWeights } from './network-weights.ts'
import type { PolicyParameters } from './parameters.ts'
import { type FoldedGates, headTables, type SemanticTables, unitTable } from './semantic-tables.ts'
import type { Semantics } from './semantics.ts'

/** What depends on the queries alone: computed once however many decisions are taken about them. */
export interface QueryFeatures {
  readonly unit: Tensor
  readonly poolKey: Tensor
  readonly graph: Tensor
  readonly context: Tensor
}

/**
 * The construction policy's network (the paper's appendix A.2), batched over decisions and factored. `PlainNetwork` is
 * its slow twin, one equation after the other.
 */
export class PolicyNetwork {
  readonly weights: NetworkWeights
  readonly #space: RoleSpace
  readonly #semantics: Semantics
  readonly #parameters: PolicyParameters
  readonly #dropoutScale: number

  constructor(parameters: PolicyParameters, space: RoleSpace, semantics: Semantics, dropoutRate: number) {
    this.weights = nameWeights(parameters)
    this.#parameters = parameters
    this.#space = space
    this.#semantics = semantics
    this.#dropoutScale = 1 / (1 - dropoutRate)
  }

  get workspace(): Workspace {
    return this.#parameters.workspace
  }

  /** The tables; `unitBranches` are the realizations that units of the coming decisions have. */
  tables(tape: Tape, unitBranches: Iterable<number>): SemanticTables {
    const units = unitTable(tape, this.workspace, this.weights, this.#semantics, unitBranches)
    return { units, ...headTables(tape, this.weights, this.#semantics) }
  }

  queries(tape: Tape, queries: Tensor): QueryFeatures {
    const { weights } = this
    return {
      unit: tape.linear(queries, weights.query),
      // (W_k h)·(W_a q) = h·(W_kᵀ W_a q): the key meets the query once, not every unit.
      poolKey: tape.product(tape.linear(queries, weights.poolQuery), weights.poolKey),
      graph: tape.bias(weights.graph.bias, tape.linear(queries, weights.graph.query)),
      context: tape.bias(weights.context.bias, tape.linear(queries, weights.context.query)),
    }
  }

  foldedUnits(tape: Tape, tables: SemanticTables): Tensor {
    return tape.linear(tables.units.inputs, this.weights.gru.input)
  }

  foldedQueries(tape: Tape, queries: QueryFeatures): Tensor {
    const { inputBias, input } = this.weights.gru
    return tape.bias(inputBias, tape.linear(queries.unit, input))
  }

  /**
   * Encodes the graphs and forms the decision contexts c_t; the heads are asked through the result. Folded gates may be
   * given when no state has a dropout mask.
   */
  decide(
    tape: Tape,
    tables: SemanticTables,
    queries: QueryFeatures,
    states: readonly NetworkState[],
    folded?: FoldedGates,
  ): DecisionBatch {
    const { weights, workspace } = this
    const { hidden, maxUnits } = this.#parameters.dimensions
    const roleIndex = (role: string) => this.#space.indexOf(role)
    const encoder = { workspace, weights, hidden, maxUnits, dropoutScale: this.#dropoutScale, roleIndex }
    const units = encodeUnits(tape, encoder, states, { units: tables.units, queries: queries.unit, folded })

    const queryRows = tape.indices(states.map((state) => state.query))
    const pooled = tape.zeros(states.length, hidden)
    // A graph without units is pooled to the learned empty-graph vector.
    for (const [row, { graph }] of states.entries()) {
      if (graph.size === 0) tape.bias(weights.emptyGraph, rowsOf(pooled, row, 1))
    }
    tape.attentionPool(units.states, units.lists, queries.poolKey, queryRows, 1 / Math.sqrt(hidden), pooled)

    const projected = tape.gather(queries.graph, queryRows, tape.linear(pooled, weights.graph.pool))
    const graph = tape.layerNorm(projected, weights.graphNorm.weight, weights.graphNorm.bias)
    const progress = states.flatMap(({ graph: { size } }) => [size / maxUnits, 1 - size / maxUnits])
    const mixed = tape.gather(queries.context, queryRows, tape.linear(graph, weights.context.graph))
    tape.linear(workspace.constant(progress, states.length, 2), weights.context.progress, mixed)
    const context = tape.layerNorm(tape.gelu(mixed), weights.contextNorm.weight, weights.contextNorm.bias)
    return new DecisionBatch(this, tape, tables, context, units)
  }
}
