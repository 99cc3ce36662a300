import type { Tape } from '../numerics/tape.ts'
import type { Tensor } from '../numerics/workspace.ts'
import type { EncodedUnits } from './edge-aware-gru.ts'
import type { ContextHead, NetworkWeights } from './network-weights.ts'
import type { SemanticTables } from './semantic-tables.ts'

/** A decision, a role's realization, and the existing units that it may listen to. */
interface EdgeBranch {
  readonly decision: number
  readonly branch: number
  readonly units: readonly number[]
}

/** The contexts of several decisions, and the action heads, each evaluated only for the branches asked for. */
export class DecisionBatch {
  /** c_t per decision. */
  readonly context: Tensor
  readonly #tape: Tape
  readonly #weights: NetworkWeights
  readonly #tables: SemanticTables
  readonly #units: EncodedUnits

  constructor(
    tape: Tape,
    weights: NetworkWeights,
    tables: SemanticTables,
    context: Tensor,
    units: EncodedUnits,
  ) {
    this.context = context
    this.#tape = tape
    this.#weights = weights
    this.#tables = tables
    this.#units = units
  }

  /** h_i of one decision's units, as copies. */
  nodeStates(decision: number): Float32Array[] {
    const { states, rows } = this.#units
    const values = this.#tape.workspace.values(states)
    return rows[decision]!.map((row) => values.slice(row * states.columns, (row + 1) * states.columns))
  }

  /** One logit per decision. */
  stopLogits(): Tensor {
    const { stop } = this.#weights
    const tape = this.#tape
    const hidden = tape.gelu(tape.bias(stop.bias, tape.linear(this.context, stop.context)))
    return tape.bias(stop.outputBias, tape.linear(hidden, stop.output))
  }

  /** One logit per pair (decision, role). */
  roleLogits(decisions: ArrayLike<number>, roles: ArrayLike<number>): Tensor {
    const { role } = this.#weights
    return this.#branchLogits(role, this.#tables.role, decisions, roles)
  }

  /** Two logits, atomic and group, per pair (decision, role). */
  granularityLogits(decisions: ArrayLike<number>, roles: ArrayLike<number>): Tensor {
    const { granularity } = this.#weights
    return this.#branchLogits(granularity, this.#tables.granularity, decisions, roles)
  }

  /** ℓ_{r,z,j} = v_{r,z}ᵀ k_j + MLP([v_{r,z}; h_j; v_{r,z} ⊙ h_j]), for each existing unit j of each pair in turn. */
  edgeLogits(pairs: readonly EdgeBranch[]): Tensor {
    const { edge, edgeQuery, edgeKey } = this.#weights
    const tape = this.#tape
    const perUnit = (value: (pair: EdgeBranch, index: number) => number) =>
      tape.indices(pairs.flatMap((pair, index) => pair.units.map(() => value(pair, index))))
    // v_{r,z} = W [c; e_role; e_realization] + b, once for all units of a pair.
    const fromContext = tape.linear(this.context, edgeQuery.context)
    const query = tape.zeros(pairs.length, fromContext.columns)
    tape.gather(fromContext, tape.indices(pairs.map(({ decision }) => decision)), query)
    tape.gather(this.#tables.edgeQuery, tape.indices(pairs.map(({ branch }) => branch)), query)

    const pairRows = perUnit((_, index) => index)
    const decisionRows = perUnit(({ decision }) => decision)
    const branchRows = perUnit(({ branch }) => branch)
    const unitRows = tape.indices(
      pairs.flatMap(({ decision, units }) => units.map((unit) => this.#units.rows[decision]![unit]!)),
    )
    const { states } = this.#units
    const hidden = tape.linear(tape.multiplyRows(query, pairRows, states, unitRows), edge.product)
    tape.gather(tape.linear(fromContext, edge.query), decisionRows, hidden)
    tape.gather(this.#tables.edgeValue, branchRows, hidden)
    tape.gather(tape.linear(states, edge.state), unitRows, hidden)
    const logits = tape.bias(edge.outputBias, tape.linear(tape.gelu(hidden), edge.output))
    return tape.dotRows(query, pairRows, tape.linear(states, edgeKey), unitRows, logits)
  }

  /** A head's first layer is its context part plus its constant part; then GELU and the second layer. */
  #branchLogits(
    head: ContextHead,
    table: Tensor,
    decisions: ArrayLike<number>,
    roles: ArrayLike<number>,
  ): Tensor {
    const tape = this.#tape
    const hidden = tape.zeros(decisions.length, table.columns)
    tape.gather(tape.linear(this.context, head.context), tape.indices(decisions), hidden)
    tape.gather(table, tape.indices(roles), hidden)
    return tape.bias(head.outputBias, tape.linear(tape.gelu(hidden), head.output))
  }
}
