import { type AgentGraph, InvalidGraphError } from '../../graph/agent-graph.ts'
import {
  type ConstructionSpace,
  type LegalityMasks,
  legalityMasks,
  type Restriction,
} from '../../graph/legality.ts'
import { type Realization, type RoleSpace, realizations } from '../../library/role-space.ts'
import {
  add,
  concat,
  dotProduct,
  gelu,
  layerNorm,
  linear,
  multiply,
  scale,
  sigmoid,
  slice,
  softmax,
  subtract,
  tanh,
} from '../../numerics/plain/operations.ts'
import { constant, leaf, type Value } from '../../numerics/plain/value.ts'
import { assertParameters, type PlainParameters, type PolicyDimensions } from '../parameter-shapes.ts'
import type { RoleVectors } from '../semantics.ts'

/** One state to decide in. */
export interface DecisionState {
  readonly query: Float64Array
  readonly graph: AgentGraph
  readonly restriction: Restriction
  /** Per unit, H entries of 0 (dropped) or 1 (kept); null without dropout. */
  readonly dropoutKeep: readonly Uint8Array[] | null
}

/** The result of one forward pass. Logits have the layout of the masks; masked ones are null. */
export interface PlainDecision {
  readonly graph: AgentGraph
  readonly space: ConstructionSpace
  readonly context: Value
  readonly nodeStates: readonly Value[]
  readonly masks: LegalityMasks
  readonly roleLogits: readonly (Value | null)[]
  readonly granularityLogits: readonly (Value | null)[]
  readonly edgeLogits: readonly (Value | null)[]
}

export interface PlainNetworkOptions {
  readonly dimensions: PolicyDimensions
  readonly roles: RoleSpace
  /** In the order of the roles. */
  readonly embeddings: readonly RoleVectors[]
  readonly dropoutRate: number
  /** Factor for every frozen vector. Default: 1. */
  readonly gain?: number
}

/**
 * The construction policy as written in the paper's appendix A.2: one equation per method, in doubles, one decision
 * at a time. Slow on purpose; the fast network is tested against it.
 */
export class PlainNetwork {
  readonly options: PlainNetworkOptions
  /** By tensor name. They hold the gradients after `backward`. */
  readonly parameters: ReadonlyMap<string, Value>

  /** A frozen network gets no gradients. */
  constructor(parameters: PlainParameters, options: PlainNetworkOptions, frozen = false) {
    assertParameters(parameters, options.dimensions)
    this.options = options
    this.parameters = new Map(
      [...parameters].map(([name, { data }]) => [name, frozen ? constant(data) : leaf(data)]),
    )
  }

  decide({ query: queryData, graph, restriction, dropoutKeep }: DecisionState): PlainDecision {
    const { roles, dimensions } = this.options
    const space = { ...dimensions, roles, restriction }
    const masks = legalityMasks(graph, space)
    const query = this.#frozen(queryData)
    const nodeStates = this.#edgeAwareGru(graph, query, dropoutKeep)
    const context = this.#decisionContext(nodeStates, query)
    return {
      graph,
      space,
      context,
      nodeStates,
      masks,
      roleLogits: this.#roleLogits(context, masks),
      granularityLogits: this.#granularityLogits(context, masks),
      edgeLogits: this.#connectionScores(context, nodeStates, masks),
    }
  }

  /** h_i = LayerNorm(u_i), u_i = GRUCell(Dropout(v_i), u_{i−1}), v_i = W_x x_i + W_p p_i + W_q q. */
  #edgeAwareGru(graph: AgentGraph, query: Value, dropoutKeep: readonly Uint8Array[] | null): Value[] {
    const { hidden } = this.options.dimensions
    const nodeStates: Value[] = []
    let recurrent = zeros(hidden)
    for (const [position, { predecessors }] of graph.units.entries()) {
      const mean =
        predecessors.length === 0
          ? zeros(hidden)
          : scale(sumOf(predecessors.map((j) => nodeStates[j]!)), 1 / predecessors.length)
      const input = add(
        linear(this.#get('input_proj.weight'), this.#nodeFeatures(graph, position)),
        linear(this.#get('predecessor_proj.weight'), mean),
        linear(this.#get('query_proj.weight'), query),
      )
      recurrent = this.#gruCell(this.#dropout(input, dropoutKeep?.[position]), recurrent)
      nodeStates.push(this.#norm('node_norm', recurrent))
    }
    return nodeStates
  }

  /** x_i = W_s e_i + e_{z_i} + e_pos(i) + e_deg−(i) + e_deg+(i). */
  #nodeFeatures(graph: AgentGraph, position: number): Value {
    const { role, realization, predecessors } = graph.units[position]!
    const semantics = this.options.embeddings[this.options.roles.indexOf(role)]![realization]
    if (semantics === null) throw new InvalidGraphError(position, `role ${role} has no ${realization} form`)
    return add(
      linear(this.#get('semantic_proj.weight'), this.#frozen(semantics)),
      this.#row('granularity_emb.weight', realizations.indexOf(realization)),
      this.#row('position_emb.weight', position),
      this.#row('indegree_emb.weight', predecessors.length),
      this.#row('outdegree_emb.weight', graph.outdegrees[position]!),
    )
  }

  /** Inverted dropout: kept entries are scaled up, so evaluation needs no correction. */
  #dropout(input: Value, keep: Uint8Array | undefined): Value {
    if (keep === undefined) return input
    return scale(multiply(input, constant([...keep])), 1 / (1 - this.options.dropoutRate))
  }

  /** PyTorch's GRUCell: gates in the order r, z, n. */
  #gruCell(input: Value, state: Value): Value {
    const { hidden } = this.options.dimensions
    const fromInput = linear(this.#get('gru.weight_ih'), input, this.#get('gru.bias_ih'))
    const fromState = linear(this.#get('gru.weight_hh'), state, this.#get('gru.bias_hh'))
    const gate = (vector: Value, index: number) => slice(vector, index * hidden, hidden)
    const reset = sigmoid(add(gate(fromInput, 0), gate(fromState, 0)))
    const update = sigmoid(add(gate(fromInput, 1), gate(fromState, 1)))
    const candidate = tanh(add(gate(fromInput, 2), multiply(reset, gate(fromState, 2))))
    // (1 − z) ⊙ n + z ⊙ h
    return add(candidate, multiply(update, subtract(state, candidate)))
  }

  /** c_t = LayerNorm(GELU(W_c [g_t; q; n/N; 1 − n/N] + b_c)), with g_t from the attention over the nodes. */
  #decisionContext(nodeStates: readonly Value[], query: Value): Value {
    const { maxUnits } = this.options.dimensions
    const progress = nodeStates.length / maxUnits
    const pooled = nodeStates.length === 0 ? this.#get('empty_graph') : this.#graphPooling(nodeStates, query)
    const graph = this.#norm('graph_norm', this.#linear('graph_proj', concat(pooled, query)))
    const input = concat(graph, query, constant([progress, 1 - progress]))
    return this.#norm('context_norm', gelu(this.#linear('context_proj', input)))
  }

  /** Σ_i a_i h_i with a = softmax_i((W_k h_i)ᵀ W_a q / √H). */
  #graphPooling(nodeStates: readonly Value[], query: Value): Value {
    const { hidden } = this.options.dimensions
    const attention = linear(this.#get('pool_query.weight'), query)
    const scores = nodeStates.map((state) =>
      dotProduct(linear(this.#get('pool_key.weight'), state), attention),
    )
    const weights = softmax(scale(concat(...scores), 1 / Math.sqrt(hidden)))
    return sumOf(nodeStates.map((state, i) => multiply(slice(weights, i, 1), state)))
  }

  #roleLogits(context: Value, masks: LegalityMasks): (Value | null)[] {
    const logits = this.options.embeddings.map(({ role }, index) =>
      masks.roles[index] ? this.#head('role_head', concat(context, this.#frozen(role))) : null,
    )
    return [...logits, this.#head('stop_head', context)]
  }

  #granularityLogits(context: Value, masks: LegalityMasks): (Value | null)[] {
    const absent = zeros(this.options.dimensions.semantic)
    return this.options.embeddings.flatMap(({ role, atomic, group }, index) => {
      if (!masks.roles[index]) return [null, null]
      // Zeros only for a realization the role lacks, not for one excluded by the run's restriction.
      const semantics = [atomic, group].map((embedding) =>
        embedding === null ? absent : this.#frozen(embedding),
      )
      const logits = this.#head('granularity_head', concat(context, this.#frozen(role), ...semantics))
      return realizations.map((_, z) => (masks.realizations[index * 2 + z] ? slice(logits, z, 1) : null))
    })
  }

  /** ℓ_{r,z,j} = v_{r,z}ᵀ k_j + MLP([v_{r,z}; h_j; v_{r,z} ⊙ h_j]). */
  #connectionScores(context: Value, nodeStates: readonly Value[], masks: LegalityMasks): (Value | null)[] {
    const keys = nodeStates.map((state) => linear(this.#get('edge_key.weight'), state))
    return this.options.embeddings.flatMap((embedding, index) =>
      realizations.flatMap((realization, z) => {
        const branch = index * 2 + z
        if (!masks.realizations[branch]) return nodeStates.map(() => null)
        const query = this.#connectionQuery(context, embedding, realization)
        return nodeStates.map((state, j) => {
          if (!masks.edges[branch * nodeStates.length + j]) return null
          const interaction = concat(query, state, multiply(query, state))
          return add(dotProduct(query, keys[j]!), this.#head('edge_mlp', interaction))
        })
      }),
    )
  }

  #connectionQuery(context: Value, embedding: RoleVectors, realization: Realization): Value {
    // Not null: a legal realization is one the role has.
    const semantics = this.#frozen(embedding[realization]!)
    return this.#linear('edge_query', concat(context, this.#frozen(embedding.role), semantics))
  }

  /** A frozen semantic vector as the network reads it. */
  #frozen(vector: ArrayLike<number>): Value {
    return scale(constant(vector), this.options.gain ?? 1)
  }

  #head(name: string, input: Value): Value {
    return this.#linear(`${name}.2`, gelu(this.#linear(`${name}.0`, input)))
  }

  #linear(name: string, input: Value): Value {
    return linear(this.#get(`${name}.weight`), input, this.#get(`${name}.bias`))
  }

  #norm(name: string, input: Value): Value {
    return layerNorm(input, this.#get(`${name}.weight`), this.#get(`${name}.bias`))
  }

  /** A row of an embedding table. */
  #row(table: string, index: number): Value {
    const { hidden } = this.options.dimensions
    return slice(this.#get(table), index * hidden, hidden)
  }

  #get(name: string): Value {
    return this.parameters.get(name)!
  }
}

function zeros(length: number): Value {
  return constant(new Float64Array(length))
}

function sumOf(vectors: readonly Value[]): Value {
  const [first, ...rest] = vectors
  return add(first!, ...rest)
}
