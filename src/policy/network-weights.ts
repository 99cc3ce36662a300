import { columnsOf, type Tensor } from '../numerics/workspace.ts'
import type { PolicyParameters } from './parameters.ts'

/** A head's two layers; the first one's weight is its context part. */
export interface ContextHead {
  readonly context: Tensor
  readonly output: Tensor
  readonly outputBias: Tensor
}

export type NetworkWeights = ReturnType<typeof nameWeights>

/** The parameters under the names of the equations. Weights of concatenated inputs are split by columns. */
export function nameWeights(parameters: PolicyParameters) {
  const { semantic: S, hidden: H } = parameters.dimensions
  const tensor = (name: string) => parameters.tensor(name)
  const part = (name: string, from: number, count: number) => columnsOf(tensor(name), from, count)
  const norm = (name: string) => ({ weight: tensor(`${name}.weight`), bias: tensor(`${name}.bias`) })
  const head = (name: string) => ({
    context: part(`${name}.0.weight`, 0, H),
    bias: tensor(`${name}.0.bias`),
    output: tensor(`${name}.2.weight`),
    outputBias: tensor(`${name}.2.bias`),
  })
  return {
    semantic: tensor('semantic_proj.weight'),
    granularityEmbedding: tensor('granularity_emb.weight'),
    positionEmbedding: tensor('position_emb.weight'),
    indegreeEmbedding: tensor('indegree_emb.weight'),
    outdegreeEmbedding: tensor('outdegree_emb.weight'),
    input: tensor('input_proj.weight'),
    predecessor: tensor('predecessor_proj.weight'),
    query: tensor('query_proj.weight'),
    gru: {
      input: tensor('gru.weight_ih'),
      state: tensor('gru.weight_hh'),
      inputBias: tensor('gru.bias_ih'),
      stateBias: tensor('gru.bias_hh'),
    },
    nodeNorm: norm('node_norm'),
    poolKey: tensor('pool_key.weight'),
    poolQuery: tensor('pool_query.weight'),
    emptyGraph: tensor('empty_graph'),
    graph: {
      pool: part('graph_proj.weight', 0, H),
      query: part('graph_proj.weight', H, S),
      bias: tensor('graph_proj.bias'),
    },
    graphNorm: norm('graph_norm'),
    context: {
      graph: part('context_proj.weight', 0, H),
      query: part('context_proj.weight', H, S),
      progress: part('context_proj.weight', H + S, 2),
      bias: tensor('context_proj.bias'),
    },
    contextNorm: norm('context_norm'),
    role: { ...head('role_head'), semantic: part('role_head.0.weight', H, S) },
    stop: head('stop_head'),
    granularity: {
      ...head('granularity_head'),
      role: part('granularity_head.0.weight', H, S),
      atomic: part('granularity_head.0.weight', H + S, S),
      group: part('granularity_head.0.weight', H + 2 * S, S),
    },
    edgeQuery: {
      context: part('edge_query.weight', 0, H),
      role: part('edge_query.weight', H, S),
      realization: part('edge_query.weight', H + S, S),
      bias: tensor('edge_query.bias'),
    },
    edgeKey: tensor('edge_key.weight'),
    edge: {
      query: part('edge_mlp.0.weight', 0, H),
      state: part('edge_mlp.0.weight', H, H),
      product: part('edge_mlp.0.weight', 2 * H, H),
      bias: tensor('edge_mlp.0.bias'),
      output: tensor('edge_mlp.2.weight'),
      outputBias: tensor('edge_mlp.2.bias'),
    },
  }
}
