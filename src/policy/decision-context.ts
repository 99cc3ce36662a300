// The decision context c_t, which all action heads read.
import type { Indices, Tape } from '../numerics/tape.ts'
import type { Tensor } from '../numerics/workspace.ts'
import type { NetworkWeights } from './network-weights.ts'

export type QueryContext = ReturnType<typeof queryContext>

/** The part of both projections that depends only on the query, computed once for all its decisions. */
export function queryContext(tape: Tape, weights: NetworkWeights, queries: Tensor) {
  return {
    graph: tape.bias(weights.graph.bias, tape.linear(queries, weights.graph.query)),
    context: tape.bias(weights.context.bias, tape.linear(queries, weights.context.query)),
  }
}

/**
 * g_t = LayerNorm(W_g [g_pool; q] + b_g) and c_t = LayerNorm(GELU(W_c [g_t; q; n/N; 1 − n/N] + b_c)), one row per
 * decision. `progress` holds n/N per decision.
 */
export function decisionContext(
  tape: Tape,
  weights: NetworkWeights,
  query: QueryContext,
  queryRows: Indices,
  pooled: Tensor,
  progress: readonly number[],
): Tensor {
  const projected = tape.gather(query.graph, queryRows, tape.linear(pooled, weights.graph.pool))
  const graph = tape.layerNorm(projected, weights.graphNorm.weight, weights.graphNorm.bias)
  const mixed = tape.gather(query.context, queryRows, tape.linear(graph, weights.context.graph))
  const both = progress.flatMap((done) => [done, 1 - done])
  tape.linear(tape.workspace.constant(both, progress.length, 2), weights.context.progress, mixed)
  return tape.layerNorm(tape.gelu(mixed), weights.contextNorm.weight, weights.contextNorm.bias)
}
