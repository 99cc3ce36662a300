// Task-conditioned attention pooling of a graph's unit states into one vector.
import type { Indices, Tape } from '../numerics/tape.ts'
import { rowsOf, type Tensor } from '../numerics/workspace.ts'
import type { EncodedUnits } from './edge-aware-gru.ts'
import type { NetworkWeights } from './network-weights.ts'

/** W_kᵀ W_a q. Since (W_k h)ᵀ(W_a q) = hᵀ(W_kᵀ W_a q), W_k is multiplied once per query instead of once per unit. */
export function poolingKeys(tape: Tape, weights: NetworkWeights, queries: Tensor): Tensor {
  return tape.product(tape.linear(queries, weights.poolQuery), weights.poolKey)
}

/**
 * g_pool = Σ_i a_i h_i with a = softmax_i((W_k h_i)ᵀ(W_a q) / √H), one row per graph. A graph without units gives the
 * learned empty-graph vector.
 */
export function poolUnits(
  tape: Tape,
  weights: NetworkWeights,
  { states, rows, lists }: EncodedUnits,
  keys: Tensor,
  queryRows: Indices,
): Tensor {
  const pooled = tape.zeros(rows.length, states.columns)
  for (const [graph, units] of rows.entries()) {
    if (units.length === 0) tape.bias(weights.emptyGraph, rowsOf(pooled, graph, 1))
  }
  return tape.attentionPool(states, lists, keys, queryRows, 1 / Math.sqrt(states.columns), pooled)
}
