/** The sizes of the network. */
export interface PolicyDimensions {
  /** S: entries of a semantic embedding. */
  readonly semantic: number
  /** H: entries of a hidden state. */
  readonly hidden: number
  /** N: outer units at most, and rows of the position and degree tables. */
  readonly maxUnits: number
  /** Nodes at most on the longest path of the expanded graph. */
  readonly maxDepth: number
}

/** Share of the unit vectors that the paper's training drops. */
export const paperDropout = 0.1

/** A tensor of doubles, row-major. */
export interface PlainTensor {
  readonly shape: readonly number[]
  readonly data: Float64Array
}

/** The parameters of a policy by their PyTorch names. */
export type PlainParameters = ReadonlyMap<string, PlainTensor>

/** Every tensor of the network with its shape, `[out, in]` for a linear layer, as in a PyTorch state dict. */
export function parameterShapes({
  semantic: S,
  hidden: H,
  maxUnits: N,
}: PolicyDimensions): Map<string, readonly number[]> {
  return new Map<string, readonly number[]>([
    ['semantic_proj.weight', [H, S]],
    ['granularity_emb.weight', [2, H]],
    ['position_emb.weight', [N, H]],
    ['indegree_emb.weight', [N, H]],
    ['outdegree_emb.weight', [N, H]],
    ['input_proj.weight', [H, H]],
    ['predecessor_proj.weight', [H, H]],
    ['query_proj.weight', [H, S]],
    ['gru.weight_ih', [3 * H, H]],
    ['gru.weight_hh', [3 * H, H]],
    ['gru.bias_ih', [3 * H]],
    ['gru.bias_hh', [3 * H]],
    ...layer('node_norm', H),
    ['pool_key.weight', [H, H]],
    ['pool_query.weight', [H, S]],
    ['empty_graph', [H]],
    ...layer('graph_proj', H, H + S),
    ...layer('graph_norm', H),
    ...layer('context_proj', H, H + S + 2),
    ...layer('context_norm', H),
    ...head('role_head', H + S, H, 1),
    ...head('stop_head', H, H, 1),
    ...head('granularity_head', H + 3 * S, H, 2),
    ...layer('edge_query', H, H + 2 * S),
    ['edge_key.weight', [H, H]],
    ...head('edge_mlp', 3 * H, H, 1),
  ])
}

/** How many values a tensor of this shape has. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1)
}

/** Refuses parameters that are not exactly those of a network of these dimensions. */
export function assertParameters(
  parameters: ReadonlyMap<string, { shape: readonly number[]; data: ArrayLike<number> }>,
  dimensions: PolicyDimensions,
): void {
  const shapes = parameterShapes(dimensions)
  for (const name of parameters.keys()) {
    if (!shapes.has(name)) throw unusable(name, 'the network has no such tensor')
  }
  for (const [name, shape] of shapes) {
    const tensor = parameters.get(name)
    if (tensor === undefined) throw unusable(name, 'it is missing')
    if (tensor.shape.join() !== shape.join()) {
      throw unusable(name, `its shape is [${tensor.shape}], but [${shape}] is needed`)
    }
    if (tensor.data.length !== sizeOf(shape))
      throw unusable(name, `it has ${tensor.data.length} values, but ${sizeOf(shape)} are needed`)
  }
}

function unusable(tensor: string, problem: string): Error {
  return new Error(`Policy parameter '${tensor}': ${problem}.`)
}

type Entry = readonly [string, readonly number[]]

/** A weight and its bias: of a linear layer `[out, in]`, or of a norm `[size]`. */
function layer(name: string, ...shape: readonly [outputs: number, inputs?: number]): Entry[] {
  return [
    [`${name}.weight`, shape as readonly number[]],
    [`${name}.bias`, [shape[0]]],
  ]
}

/** Two linear layers with a GELU between them, which takes number 1 of PyTorch's `Sequential`. */
function head(name: string, inputs: number, hidden: number, outputs: number): Entry[] {
  return [...layer(`${name}.0`, hidden, inputs), ...layer(`${name}.2`, outputs, hidden)]
}
