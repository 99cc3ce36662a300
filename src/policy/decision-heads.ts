import type { Tape } from '../numerics/tape.ts'
import type { Tensor } from '../numerics/workspace.ts'
import type { EncodedUnits } from './edge-aware-gru.ts'
import type { NetworkWeights } from './network-weights.ts'
import type { SemanticTables } from './semantic-tables.ts'

/** A decision, a role's realization, and the existing units it may listen to. */
interface EdgeBranch {
  readonly decision: number
  readonly branch: number
  readonly units: readonly number[]
}

export type DecisionBatch = ReturnType<typeof decisionHeads>

/**
 * The action heads on the contexts c_t of several decisions, evaluated only for the requested branches. Lists such as
 * `decisions` and `roles` are parallel.
 */
export function decisionHeads(
  tape: Tape,
  { stop, role, granularity, edge, edgeQuery, edgeKey }: NetworkWeights,
  tables: SemanticTables,
  context: Tensor,
  { states, rows }: EncodedUnits,
) {
  type List = readonly number[]
  type Head = NetworkWeights['stop']

  /** A head's first layer is its context part plus its constant part; then GELU and the second layer. */
  const branchLogits = (head: Head, table: Tensor, decisions: List, roles: List): Tensor => {
    const hidden = tape.zeros(decisions.length, table.columns)
    tape.gather(tape.linear(context, head.context), tape.indices(decisions), hidden)
    tape.gather(table, tape.indices(roles), hidden)
    return tape.bias(head.outputBias, tape.linear(tape.gelu(hidden), head.output))
  }

  return {
    context,

    /** h_i of one decision's units, as copies. */
    nodeStates(decision: number): Float32Array[] {
      const values = tape.workspace.values(states)
      return rows[decision]!.map((row) => values.slice(row * states.columns, (row + 1) * states.columns))
    },

    /** One logit per decision. */
    stopLogits(): Tensor {
      const hidden = tape.gelu(tape.bias(stop.bias, tape.linear(context, stop.context)))
      return tape.bias(stop.outputBias, tape.linear(hidden, stop.output))
    },

    /** One logit per pair of decision and role. */
    roleLogits: (decisions: List, roles: List) => branchLogits(role, tables.role, decisions, roles),

    /** Two logits, atomic and group, per pair of decision and role. */
    granularityLogits: (decisions: List, roles: List) =>
      branchLogits(granularity, tables.granularity, decisions, roles),

    /**
     * Connection scores ℓ_{r,z,j} = v_{r,z}ᵀ k_j + MLP([v_{r,z}; h_j; v_{r,z} ⊙ h_j]), for each existing unit j of
     * each pair in turn.
     */
    edgeLogits(pairs: readonly EdgeBranch[]): Tensor {
      const perUnit = (value: (pair: EdgeBranch, index: number) => number) =>
        tape.indices(pairs.flatMap((pair, index) => pair.units.map(() => value(pair, index))))
      // v_{r,z} = W [c; e_role; e_realization] + b, once for all units of a pair.
      const fromContext = tape.linear(context, edgeQuery.context)
      const query = tape.zeros(pairs.length, fromContext.columns)
      tape.gather(fromContext, tape.indices(pairs.map(({ decision }) => decision)), query)
      tape.gather(tables.edgeQuery, tape.indices(pairs.map(({ branch }) => branch)), query)

      const pairRows = perUnit((_, index) => index)
      const decisionRows = perUnit(({ decision }) => decision)
      const branchRows = perUnit(({ branch }) => branch)
      const unitRows = tape.indices(
        pairs.flatMap(({ decision, units }) => units.map((unit) => rows[decision]![unit]!)),
      )
      const hidden = tape.linear(tape.multiplyRows(query, pairRows, states, unitRows), edge.product)
      tape.gather(tape.linear(fromContext, edge.query), decisionRows, hidden)
      tape.gather(tables.edgeValue, branchRows, hidden)
      tape.gather(tape.linear(states, edge.state), unitRows, hidden)
      const logits = tape.bias(edge.outputBias, tape.linear(tape.gelu(hidden), edge.output))
      return tape.dotRows(query, pairRows, tape.linear(states, edgeKey), unitRows, logits)
    },
  }
}
