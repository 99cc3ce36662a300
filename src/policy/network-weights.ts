import type { Tensor } from '../numerics/workspace.ts'
import type { PolicyDimensions } from './parameter-shapes.ts'

export type NetworkWeights = ReturnType<typeof networkWeights<Tensor>>

/**
 * Every weight of the network by its name in the equations, with its PyTorch name and shape (`[out, in]` for a linear
 * layer). Weights of concatenated inputs are split by `columns` into one part per input.
 */
export function networkWeights<Weight>(
  { semantic: S, hidden: H, maxUnits: N }: PolicyDimensions,
  tensor: (name: string, shape: readonly number[]) => Weight,
  columns: (whole: Weight, from: number, count: number) => Weight,
) {
  const norm = (name: string) => ({
    weight: tensor(`${name}.weight`, [H]),
    bias: tensor(`${name}.bias`, [H]),
  })
  const layer = <Input extends string>(name: string, inputs: Record<Input, number>) => {
    const widths = Object.entries<number>(inputs)
    const weight = tensor(`${name}.weight`, [H, widths.reduce((sum, [, width]) => sum + width, 0)])
    let end = 0
    const parts = widths.map(([input, width]) => {
      end += width
      return [input, columns(weight, end - width, width)]
    })
    return {
      ...(Object.fromEntries(parts) as Record<Input, Weight>),
      bias: tensor(`${name}.bias`, [H]),
    }
  }
  /** Two layers with a GELU in between, which is number 1 in PyTorch's `Sequential`. */
  const head = <Input extends string>(name: string, outputs: number, inputs: Record<Input, number>) => ({
    ...layer(`${name}.0`, inputs),
    output: tensor(`${name}.2.weight`, [outputs, H]),
    outputBias: tensor(`${name}.2.bias`, [outputs]),
  })
  // In the order of the PyTorch state dict and of the optimizer's moments.
  return {
    semantic: tensor('semantic_proj.weight', [H, S]),
    granularityEmbedding: tensor('granularity_emb.weight', [2, H]),
    positionEmbedding: tensor('position_emb.weight', [N, H]),
    indegreeEmbedding: tensor('indegree_emb.weight', [N, H]),
    outdegreeEmbedding: tensor('outdegree_emb.weight', [N, H]),
    input: tensor('input_proj.weight', [H, H]),
    predecessor: tensor('predecessor_proj.weight', [H, H]),
    query: tensor('query_proj.weight', [H, S]),
    gru: {
      input: tensor('gru.weight_ih', [3 * H, H]),
      state: tensor('gru.weight_hh', [3 * H, H]),
      inputBias: tensor('gru.bias_ih', [3 * H]),
      stateBias: tensor('gru.bias_hh', [3 * H]),
    },
    nodeNorm: norm('node_norm'),
    poolKey: tensor('pool_key.weight', [H, H]),
    poolQuery: tensor('pool_query.weight', [H, S]),
    emptyGraph: tensor('empty_graph', [H]),
    graph: layer('graph_proj', { pool: H, query: S }),
    graphNorm: norm('graph_norm'),
    context: layer('context_proj', { graph: H, query: S, progress: 2 }),
    contextNorm: norm('context_norm'),
    role: head('role_head', 1, { context: H, semantic: S }),
    stop: head('stop_head', 1, { context: H }),
    granularity: head('granularity_head', 2, { context: H, role: S, atomic: S, group: S }),
    edgeQuery: layer('edge_query', { context: H, role: S, realization: S }),
    edgeKey: tensor('edge_key.weight', [H, H]),
    edge: head('edge_mlp', 1, { query: H, state: H, product: H }),
  }
}
