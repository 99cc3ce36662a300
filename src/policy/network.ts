import { type AgentGraph, InvalidGraphError } from '../graph/agent-graph.ts'
import { type RoleSpace, realizations } from '../library/role-space.ts'
import type { RaggedIndices, Tape } from '../numerics/tape.ts'
import { columnsOf, rowsOf, type Tensor, type Workspace } from '../numerics/workspace.ts'
import type { PolicyDimensions } from './parameter-shapes.ts'
import type { PolicyParameters } from './parameters.ts'
import type { Semantics } from './semantics.ts'

/** One state to decide in: the graph so far, its query's row among the prepared ones, and its dropout mask. */
export interface NetworkState {
  readonly graph: AgentGraph
  readonly query: number
  /** Per unit H entries of 0 (dropped) or 1 (kept); null in evaluation mode. */
  readonly dropoutKeep: readonly Uint8Array[] | null
}

/** What depends on the queries alone: computed once however many decisions are taken about them. */
export interface QueryFeatures {
  readonly unit: Tensor
  readonly poolKey: Tensor
  readonly graph: Tensor
  readonly context: Tensor
}

/**
 * What depends on the parameters and the library alone. The heads read a context next to constant semantic vectors, so
 * the constant part of their first layer is computed once per parameter version instead of once per decision.
 */
export interface SemanticTables {
  /** W_x times every term that x_i may be made of: realizations, granularities, positions, degrees. */
  readonly units: UnitTable
  readonly role: Tensor
  readonly granularity: Tensor
  readonly edgeQuery: Tensor
  /** The interaction MLP's first layer on the constant part of the edge query. */
  readonly edgeValue: Tensor
}

/** Where each term of x_i = W_s·e + e_z + e_pos + e_deg− + e_deg+ stands among the rows of `inputs`. */
interface UnitTable {
  readonly inputs: Tensor
  readonly branch: ReadonlyMap<number, number>
  readonly granularity: number
  readonly position: number
  readonly indegree: number
  readonly outdegree: number
}

/**
 * The construction policy's network (the paper's appendix A.2), batched over decisions and factored. `PlainNetwork` is
 * its slow twin, one equation after the other.
 */
export class PolicyNetwork {
  readonly #space: RoleSpace
  readonly #semantics: Semantics
  readonly #parameters: PolicyParameters
  readonly #dropoutScale: number
  readonly weights: Weights

  constructor(parameters: PolicyParameters, space: RoleSpace, semantics: Semantics, dropoutRate: number) {
    this.#parameters = parameters
    this.#space = space
    this.#semantics = semantics
    this.#dropoutScale = 1 / (1 - dropoutRate)
    this.weights = nameWeights(parameters)
  }

  get workspace(): Workspace {
    return this.#parameters.workspace
  }

  /** The tables; `unitBranches` are the realizations that units of the coming decisions have. */
  tables(tape: Tape, unitBranches: Iterable<number>): SemanticTables {
    const { weights } = this
    const { roles, branches } = this.#semantics
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
    const edgeValue = tape.bias(weights.edge.bias, tape.linear(edgeQuery, weights.edge.query))

    return { units: this.#unitTable(tape, unitBranches), role, granularity, edgeQuery, edgeValue }
  }

  /** W_x is linear, so it meets each term once instead of every unit's sum of terms. */
  #unitTable(tape: Tape, unitBranches: Iterable<number>): UnitTable {
    const { weights } = this
    const { branches } = this.#semantics
    const { hidden, maxUnits } = this.#parameters.dimensions
    const used = [...new Set(unitBranches)]
    const chosen = this.workspace.constant(
      new Float32Array(used.length * branches.columns),
      used.length,
      branches.columns,
    )
    tape.gather(branches, tape.indices(used), chosen)
    const granularity = used.length
    const position = granularity + realizations.length
    const indegree = position + maxUnits
    const outdegree = indegree + maxUnits
    const terms = tape.zeros(outdegree + maxUnits, hidden)
    tape.linear(chosen, weights.semantic, rowsOf(terms, 0, used.length))
    const place = (embedding: Tensor, from: number) =>
      tape.gather(
        embedding,
        tape.indices([...Array(embedding.rows).keys()]),
        rowsOf(terms, from, embedding.rows),
      )
    place(weights.granularityEmbedding, granularity)
    place(weights.positionEmbedding, position)
    place(weights.indegreeEmbedding, indegree)
    place(weights.outdegreeEmbedding, outdegree)
    const branch = new Map(used.map((entry, row) => [entry, row]))
    return { inputs: tape.linear(terms, weights.input), branch, granularity, position, indegree, outdegree }
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

  /** Encodes the graphs and forms the decision contexts c_t. The heads are asked through the result. */
  decide(
    tape: Tape,
    tables: SemanticTables,
    queries: QueryFeatures,
    states: readonly NetworkState[],
  ): DecisionBatch {
    const { weights } = this
    const { hidden, maxUnits } = this.#parameters.dimensions
    for (const state of states) assertFits(state, this.#parameters.dimensions)
    const units = this.#encodeUnits(tape, tables, queries, states)

    const queryRows = tape.indices(states.map((state) => state.query))
    const pooled = tape.zeros(states.length, hidden)
    const empty = states.flatMap((state, row) => (state.graph.size === 0 ? [row] : []))
    if (empty.length > 0) this.#fillEmpty(tape, pooled, empty)
    tape.attentionPool(units.states, units.lists, queries.poolKey, queryRows, 1 / Math.sqrt(hidden), pooled)

    const projected = tape.gather(queries.graph, queryRows, tape.linear(pooled, weights.graph.pool))
    const graph = tape.layerNorm(projected, weights.graphNorm.weight, weights.graphNorm.bias)
    const progress = states.flatMap(({ graph: { size } }) => [size / maxUnits, 1 - size / maxUnits])
    const mixed = tape.gather(queries.context, queryRows, tape.linear(graph, weights.context.graph))
    tape.linear(this.workspace.constant(progress, states.length, 2), weights.context.progress, mixed)
    const context = tape.layerNorm(tape.gelu(mixed), weights.contextNorm.weight, weights.contextNorm.bias)
    return new DecisionBatch(this, tape, tables, context, units)
  }

  /** A graph without units is pooled to the learned empty-graph vector. */
  #fillEmpty(tape: Tape, pooled: Tensor, rows: readonly number[]): void {
    for (const row of rows) tape.bias(this.weights.emptyGraph, rowsOf(pooled, row, 1))
  }

  /**
   * The edge-aware GRU over all graphs at once: step i takes unit i of every graph that has one. Graphs are taken by
   * falling size, so those of step i are a prefix of those of step i − 1, and the previous states are its first rows.
   */
  #encodeUnits(
    tape: Tape,
    tables: SemanticTables,
    queries: QueryFeatures,
    states: readonly NetworkState[],
  ): EncodedUnits {
    const { weights } = this
    const { hidden } = this.#parameters.dimensions
    const bySize = [...states.keys()].sort((a, b) => states[b]!.graph.size - states[a]!.graph.size || a - b)
    const steps = states.length === 0 ? 0 : states[bySize[0]!]!.graph.size
    const starts: number[] = []
    const layers: number[][] = []
    let total = 0
    for (let step = 0; step < steps; step += 1) {
      const layer = bySize.filter((state) => states[state]!.graph.size > step)
      starts.push(total)
      layers.push(layer)
      total += layer.length
    }
    const rows = states.map(({ graph }) => new Array<number>(graph.size))
    for (const [step, layer] of layers.entries()) {
      for (const [position, state] of layer.entries()) rows[state]![step] = starts[step]! + position
    }
    const encoded = { states: tape.zeros(total, hidden), rows, lists: tape.ragged(rows) }
    if (total === 0) return encoded

    const inputs = this.#unitInputs(tape, tables, queries, states, layers)
    let previous: Tensor | undefined
    for (const [step, layer] of layers.entries()) {
      const count = layer.length
      const start = starts[step]!
      const input = rowsOf(inputs, start, count)
      const predecessors = layer.map((state) =>
        states[state]!.graph.units[step]!.predecessors.map((predecessor) => rows[state]![predecessor]!),
      )
      if (predecessors.some((list) => list.length > 0)) {
        tape.linear(tape.meanRows(encoded.states, tape.ragged(predecessors)), weights.predecessor, input)
      }
      const dropped = this.#dropout(
        tape,
        input,
        layer.map((state) => states[state]!.dropoutKeep?.[step]),
      )
      const fromInput = tape.bias(weights.gru.inputBias, tape.linear(dropped, weights.gru.input))
      const before: Tensor | undefined = previous && rowsOf(previous, 0, count)
      const fromState = before ? tape.linear(before, weights.gru.state) : tape.zeros(count, hidden * 3)
      previous = tape.gru(fromInput, tape.bias(weights.gru.stateBias, fromState), before)
      tape.layerNorm(
        previous,
        weights.nodeNorm.weight,
        weights.nodeNorm.bias,
        rowsOf(encoded.states, start, count),
      )
    }
    return encoded
  }

  /** W_x·x_i + W_q·q of every unit: the part of v_i that needs no other unit's state. */
  #unitInputs(
    tape: Tape,
    tables: SemanticTables,
    queries: QueryFeatures,
    states: readonly NetworkState[],
    layers: readonly (readonly number[])[],
  ): Tensor {
    const { units } = tables
    const { maxUnits } = this.#parameters.dimensions
    const outdegrees = states.map(({ graph }) => graph.outdegrees)
    const terms: number[][] = [[], [], [], [], []]
    const query: number[] = []
    for (const [step, layer] of layers.entries()) {
      for (const state of layer) {
        const unit = states[state]!.graph.units[step]!
        const z = realizations.indexOf(unit.realization)
        terms[0]!.push(units.branch.get(this.#space.indexOf(unit.role) * 2 + z)!)
        terms[1]!.push(units.granularity + z)
        terms[2]!.push(units.position + inTable(step, maxUnits))
        terms[3]!.push(units.indegree + inTable(unit.predecessors.length, maxUnits))
        terms[4]!.push(units.outdegree + inTable(outdegrees[state]![step]!, maxUnits))
        query.push(states[state]!.query)
      }
    }
    const inputs = tape.zeros(query.length, this.#parameters.dimensions.hidden)
    for (const term of terms) tape.gather(units.inputs, tape.indices(term), inputs)
    return tape.gather(queries.unit, tape.indices(query), inputs)
  }

  /** Inverted dropout on v_i; a row without a mask passes unchanged. */
  #dropout(tape: Tape, input: Tensor, keeps: readonly (Uint8Array | undefined)[]): Tensor {
    if (keeps.every((keep) => keep === undefined)) return input
    const factors = new Float32Array(input.rows * input.columns)
    for (const [row, keep] of keeps.entries()) {
      for (let column = 0; column < input.columns; column += 1) {
        factors[row * input.columns + column] = keep === undefined ? 1 : keep[column]! * this.#dropoutScale
      }
    }
    const constant = this.workspace.constant(factors, input.rows, input.columns)
    return tape.scale(input, constant, tape.zeros(input.rows, input.columns))
  }
}

/** Positions and degrees beyond their tables are an error, never clamped. */
function inTable(index: number, rows: number): number {
  if (index >= rows)
    throw new RangeError(`A position or degree of ${index} is outside the table of ${rows} rows.`)
  return index
}

/** What lies outside the tables, or a mask of another shape, would be read from some neighbour's memory. */
function assertFits({ graph, dropoutKeep }: NetworkState, { maxUnits, hidden }: PolicyDimensions): void {
  if (graph.size > maxUnits)
    throw new RangeError(`The tables of the network end at ${maxUnits} units; a graph has ${graph.size}.`)
  if (dropoutKeep === null) return
  if (dropoutKeep.length !== graph.size || dropoutKeep.some((keep) => keep.length !== hidden))
    throw new RangeError(`A dropout mask does not have ${hidden} entries for each of ${graph.size} units.`)
}

interface EncodedUnits {
  /** h_i of all units of all graphs. */
  readonly states: Tensor
  /** Per graph, the rows of its units in construction order. */
  readonly rows: readonly (readonly number[])[]
  readonly lists: RaggedIndices
}

/** The contexts of several decisions and the heads that read them, each asked for just the branches that are wanted. */
export class DecisionBatch {
  /** c_t per decision. */
  readonly context: Tensor
  readonly #network: PolicyNetwork
  readonly #tape: Tape
  readonly #tables: SemanticTables
  readonly #units: EncodedUnits

  constructor(
    network: PolicyNetwork,
    tape: Tape,
    tables: SemanticTables,
    context: Tensor,
    units: EncodedUnits,
  ) {
    this.context = context
    this.#network = network
    this.#tape = tape
    this.#tables = tables
    this.#units = units
  }

  /** h_i of one decision's units, as copies. */
  nodeStates(decision: number): Float32Array[] {
    const { states, rows } = this.#units
    const values = this.#network.workspace.values(states)
    return rows[decision]!.map((row) => values.slice(row * states.columns, (row + 1) * states.columns))
  }

  /** One logit per decision. */
  stopLogits(): Tensor {
    const { stop } = this.#network.weights
    const tape = this.#tape
    const hidden = tape.gelu(tape.bias(stop.bias, tape.linear(this.context, stop.context)))
    return tape.bias(stop.outputBias, tape.linear(hidden, stop.output))
  }

  /** One logit per pair (decision, role). */
  roleLogits(decisions: ArrayLike<number>, roles: ArrayLike<number>): Tensor {
    const { role } = this.#network.weights
    return this.#branchLogits(role, this.#tables.role, decisions, roles)
  }

  /** Two logits, atomic and group, per pair (decision, role). */
  granularityLogits(decisions: ArrayLike<number>, roles: ArrayLike<number>): Tensor {
    const { granularity } = this.#network.weights
    return this.#branchLogits(granularity, this.#tables.granularity, decisions, roles)
  }

  /** One logit per triple (decision, branch, existing unit). */
  edgeLogits(decisions: readonly number[], branches: readonly number[], units: readonly number[]): Tensor {
    const { edge, edgeQuery, edgeKey } = this.#network.weights
    const tape = this.#tape
    // v = edge_query [c; e_role; e_realization], once for all units of a decision.
    const pairs = new Map<number, number>()
    const pairDecisions: number[] = []
    const pairBranches: number[] = []
    const pairOf = decisions.map((decision, position) => {
      const key = decision * this.#tables.edgeQuery.rows + branches[position]!
      let pair = pairs.get(key)
      if (pair === undefined) {
        pair = pairs.size
        pairs.set(key, pair)
        pairDecisions.push(decision)
        pairBranches.push(branches[position]!)
      }
      return pair
    })
    const fromContext = tape.linear(this.context, edgeQuery.context)
    const query = tape.zeros(pairs.size, fromContext.columns)
    tape.gather(fromContext, tape.indices(pairDecisions), query)
    tape.gather(this.#tables.edgeQuery, tape.indices(pairBranches), query)

    const pairRows = tape.indices(pairOf)
    const decisionRows = tape.indices(decisions)
    const branchRows = tape.indices(branches)
    const unitRows = tape.indices(
      units.map((unit, position) => this.#units.rows[decisions[position]!]![unit]!),
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

interface ContextHead {
  readonly context: Tensor
  readonly output: Tensor
  readonly outputBias: Tensor
}

type Weights = ReturnType<typeof nameWeights>

/** The parameters under the names of the equations; a concatenated input's weight is taken apart by columns. */
function nameWeights(parameters: PolicyParameters) {
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
