import { realizations } from '../library/role-space.ts'
import type { Tape } from '../numerics/tape.ts'
import { rowsOf, type Tensor } from '../numerics/workspace.ts'
import type { NetworkWeights } from './network-weights.ts'
import type { Semantics } from './semantics.ts'

/**
 * What depends only on the parameters and the library. The heads read a context next to constant semantic vectors, so
 * the constant part of their first layer is computed once per parameter version instead of once per decision.
 */
export type SemanticTables = { readonly units: UnitTable } & ReturnType<typeof headTables>

export type UnitTable = ReturnType<typeof unitTable>

export function headTables(tape: Tape, weights: NetworkWeights, { roles, branches }: Semantics) {
  const role = tape.bias(weights.role.bias, tape.linear(roles, weights.role.semantic))

  const atomic = { ...branches, rows: roles.rows, stride: branches.stride * 2 }
  const group = { ...atomic, data: atomic.data + branches.stride * 4 }
  const granularity = tape.linear(roles, weights.granularity.role)
  tape.linear(atomic, weights.granularity.atomic, granularity)
  tape.linear(group, weights.granularity.group, granularity)
  tape.bias(weights.granularity.bias, granularity)

  const edgeQuery = tape.linear(branches, weights.edgeQuery.realization)
  const roleOfBranch = tape.indices(Int32Array.from({ length: branches.rows }, (_, branch) => branch >> 1))
  tape.gather(tape.linear(roles, weights.edgeQuery.role), roleOfBranch, edgeQuery)
  tape.bias(weights.edgeQuery.bias, edgeQuery)
  // The interaction MLP's first layer on the constant part of the edge query.
  const edgeValue = tape.bias(weights.edge.bias, tape.linear(edgeQuery, weights.edge.query))
  return { role, granularity, edgeQuery, edgeValue }
}

/**
 * W_x times every possible term of x_i = W_s·e + e_z + e_pos + e_deg− + e_deg+, and where each kind of term starts.
 * W_x is linear, so it is applied to each term once instead of to every unit's sum.
 */
export function unitTable(
  tape: Tape,
  weights: NetworkWeights,
  { branches }: Semantics,
  unitBranches: Iterable<number>,
  fold: boolean,
) {
  const used = [...new Set(unitBranches)]
  const vectors = new Float32Array(used.length * branches.columns)
  const chosen = tape.workspace.constant(vectors, used.length, branches.columns)
  tape.gather(branches, tape.indices(used), chosen)
  const maxUnits = weights.positionEmbedding.rows
  const granularity = used.length
  const position = granularity + realizations.length
  const indegree = position + maxUnits
  const outdegree = indegree + maxUnits
  const terms = tape.zeros(outdegree + maxUnits, weights.input.columns)
  tape.linear(chosen, weights.semantic, rowsOf(terms, 0, used.length))
  const place = (embedding: Tensor, from: number) => {
    const all = tape.indices([...Array(embedding.rows).keys()])
    tape.gather(embedding, all, rowsOf(terms, from, embedding.rows))
  }
  place(weights.granularityEmbedding, granularity)
  place(weights.positionEmbedding, position)
  place(weights.indegreeEmbedding, indegree)
  place(weights.outdegreeEmbedding, outdegree)
  // Maps a branch to its row.
  const branch = new Map(used.map((entry, row) => [entry, row]))
  const inputs = tape.linear(terms, weights.input)
  // Without dropout, the GRU's input projection is linear in the terms, so a unit without predecessors needs no
  // multiplication.
  const folded = fold ? tape.linear(inputs, weights.gru.input) : undefined
  return { inputs, folded, branch, granularity, position, indegree, outdegree }
}
