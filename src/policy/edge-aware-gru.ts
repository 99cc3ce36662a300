import { type AgentGraph, InvalidGraphError } from '../graph/agent-graph.ts'
import { type RoleSpace, realizations } from '../library/role-space.ts'
import type { RaggedIndices, Tape } from '../numerics/tape.ts'
import { rowsOf, type Tensor } from '../numerics/workspace.ts'
import type { NetworkWeights } from './network-weights.ts'
import type { UnitTable } from './semantic-tables.ts'

/** One state to decide in: the graph so far, the row of its query, and its dropout mask. */
export interface NetworkState {
  readonly graph: AgentGraph
  readonly query: number
  /** Per unit, H entries of 0 (dropped) or 1 (kept); null without dropout. */
  readonly dropoutKeep: readonly Uint8Array[] | null
}

export interface EncodedUnits {
  /** h_i of all units of all graphs. */
  readonly states: Tensor
  /** Per graph, the rows of its units in construction order. */
  readonly rows: readonly (readonly number[])[]
  readonly lists: RaggedIndices
}

/** The query features that units read. */
export interface UnitQueries {
  /** W_q q. */
  readonly unit: Tensor
  /** W_ih W_q q + b_ih, if requested. */
  readonly folded: Tensor | undefined
}

interface UnitEncoder {
  readonly weights: NetworkWeights
  readonly roles: RoleSpace
  /** 1 / (1 − dropout rate), the factor of kept entries. */
  readonly dropoutScale: number
}

/**
 * Unit i of every graph that has one. Graphs are sorted by decreasing size, so each step's graphs are a prefix of the
 * previous step's.
 */
interface Step {
  readonly graphs: readonly number[]
  /** Index of its first row among all units. */
  readonly start: number
}

/**
 * The edge-aware GRU: p_i = Mean_{j→i} h_j, v_i = W_x x_i + W_p p_i + W_q q, u_i = GRUCell(Dropout(v_i), u_{i−1}),
 * h_i = LayerNorm(u_i), for all graphs at once, unit by unit. If table and queries are folded (only possible without
 * dropout), a unit's input projection is a sum of table rows, and only the predecessors' part needs a multiplication.
 */
export function encodeUnits(
  tape: Tape,
  { weights, roles, dropoutScale }: UnitEncoder,
  states: readonly NetworkState[],
  table: UnitTable,
  queries: UnitQueries,
): EncodedUnits {
  const folded = table.folded && queries.folded && ([table.folded, queries.folded] as const)
  const hidden = weights.gru.state.columns
  for (const state of states) assertDropout(state, hidden, folded !== undefined)
  const steps = stepsOf(states)
  const rows = states.map(({ graph }) => new Array<number>(graph.size))
  for (const [step, { graphs, start }] of steps.entries()) {
    for (const [position, graph] of graphs.entries()) rows[graph]![step] = start + position
  }
  const total = rows.reduce((sum, { length }) => sum + length, 0)
  const encoded = { states: tape.zeros(total, hidden), rows, lists: tape.ragged(rows) }
  if (total === 0) return encoded

  const terms = unitTerms(roles, states, steps, table)
  const [unitInputs, queryInputs] = folded ?? [table.inputs, queries.unit]
  const projected = tape.zeros(total, unitInputs.columns)
  for (const term of terms.units) tape.gather(unitInputs, tape.indices(term), projected)
  tape.gather(queryInputs, tape.indices(terms.queries), projected)

  // W_ih·Dropout(v_i) + b_ih
  const projectInput = (keeps: readonly (Uint8Array | undefined)[], input: Tensor) => {
    const dropped = dropout(tape, input, keeps, dropoutScale)
    return tape.bias(weights.gru.inputBias, tape.linear(dropped, weights.gru.input))
  }
  let previous: Tensor | undefined
  for (const [step, { graphs, start }] of steps.entries()) {
    const count = graphs.length
    const input = rowsOf(projected, start, count)
    const predecessorRows = graphs.map((graph) =>
      states[graph]!.graph.units[step]!.predecessors.map((predecessor) => rows[graph]![predecessor]!),
    )
    addPredecessors(tape, weights, encoded.states, predecessorRows, input, folded !== undefined)
    const keeps = graphs.map((graph) => states[graph]!.dropoutKeep?.[step])
    const fromInput = folded ? input : projectInput(keeps, input)
    const before: Tensor | undefined = previous && rowsOf(previous, 0, count)
    const fromState = before ? tape.linear(before, weights.gru.state) : tape.zeros(count, hidden * 3)
    previous = tape.gru(fromInput, tape.bias(weights.gru.stateBias, fromState), before)
    const { weight, bias } = weights.nodeNorm
    tape.layerNorm(previous, weight, bias, rowsOf(encoded.states, start, count))
  }
  return encoded
}

function stepsOf(states: readonly NetworkState[]): Step[] {
  const bySize = [...states.keys()].sort((a, b) => states[b]!.graph.size - states[a]!.graph.size || a - b)
  const steps: Step[] = []
  for (let start = 0; ; ) {
    const graphs = bySize.filter((state) => states[state]!.graph.size > steps.length)
    if (graphs.length === 0) return steps
    steps.push({ graphs, start })
    start += graphs.length
  }
}

/** The terms of x_i = W_s e_i + e_z + e_pos + e_deg− + e_deg+ as table rows to sum, and the query's row, in step order. */
function unitTerms(
  roles: RoleSpace,
  states: readonly NetworkState[],
  steps: readonly Step[],
  table: UnitTable,
): { units: number[][]; queries: number[] } {
  const maxUnits = (table.outdegree - table.position) / 2
  const outdegrees = states.map(({ graph }) => graph.outdegrees)
  const units: number[][] = [[], [], [], [], []]
  const queries: number[] = []
  for (const [step, { graphs }] of steps.entries()) {
    for (const graph of graphs) {
      const unit = states[graph]!.graph.units[step]!
      const z = realizations.indexOf(unit.realization)
      const branch = table.branch.get(roles.indexOf(unit.role) * 2 + z)
      if (branch === undefined) {
        throw new InvalidGraphError(step, `the role ${unit.role} has no ${unit.realization} realization`)
      }
      units[0]!.push(branch)
      units[1]!.push(table.granularity + z)
      units[2]!.push(table.position + inTable(step, maxUnits))
      units[3]!.push(table.indegree + inTable(unit.predecessors.length, maxUnits))
      units[4]!.push(table.outdegree + inTable(outdegrees[graph]![step]!, maxUnits))
      queries.push(states[graph]!.query)
    }
  }
  return { units, queries }
}

/** Adds W_p·p_i to v_i or, if folded, W_ih·W_p·p_i to the rows that have predecessors. */
function addPredecessors(
  tape: Tape,
  { predecessor, gru }: NetworkWeights,
  encoded: Tensor,
  predecessorRows: readonly (readonly number[])[],
  input: Tensor,
  folded: boolean,
): void {
  const listening = [...predecessorRows.keys()].filter((row) => predecessorRows[row]!.length > 0)
  if (listening.length === 0) return
  if (!folded) {
    tape.linear(tape.meanRows(encoded, tape.ragged(predecessorRows)), predecessor, input)
    return
  }
  const means = tape.meanRows(encoded, tape.ragged(listening.map((row) => predecessorRows[row]!)))
  tape.scatter(tape.linear(tape.linear(means, predecessor), gru.input), tape.indices(listening), input)
}

/** Inverted dropout; a row without a mask is unchanged. */
function dropout(
  tape: Tape,
  input: Tensor,
  keeps: readonly (Uint8Array | undefined)[],
  scale: number,
): Tensor {
  if (keeps.every((keep) => keep === undefined)) return input
  const factors = new Float32Array(input.rows * input.columns)
  for (const [row, keep] of keeps.entries()) {
    for (let column = 0; column < input.columns; column += 1) {
      factors[row * input.columns + column] = keep === undefined ? 1 : keep[column]! * scale
    }
  }
  const constant = tape.workspace.constant(factors, input.rows, input.columns)
  return tape.scale(input, constant, tape.zeros(input.rows, input.columns))
}

/** Positions and degrees outside their tables throw; they are never clamped. */
function inTable(index: number, rows: number): number {
  if (index >= rows)
    throw new RangeError(`A position or degree of ${index} is outside the table of ${rows} rows.`)
  return index
}

function assertDropout({ graph, dropoutKeep }: NetworkState, hidden: number, folded: boolean): void {
  if (dropoutKeep === null) return
  if (folded) throw new RangeError('Queries were prepared without dropout, but a state has a dropout mask.')
  if (dropoutKeep.length !== graph.size || dropoutKeep.some((keep) => keep.length !== hidden)) {
    throw new RangeError(`A dropout mask does not have ${hidden} entries for each of ${graph.size} units.`)
  }
}
