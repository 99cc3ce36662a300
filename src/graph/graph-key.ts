import { createHash } from 'node:crypto'
import { AgentGraph, marksText } from './agent-graph.ts'
import { canonicalOrder } from './canonical-order.ts'

/**
 * The identity of a graph: a digest that is equal exactly for graphs that differ only in construction order. It
 * covers roles, realizations, edges, marks and finalizer, so it names the same graph in every run and in every
 * library with these role names.
 */
export function graphKey(graph: AgentGraph): string {
  const known = keys.get(graph)
  if (known !== undefined) return known
  const { units } = reorder(graph, canonicalOrder(graph))
  const listed = units.map((unit) => [unit.role, unit.realization, unit.predecessors, ...marksText(unit)])
  const key = createHash('sha256')
    .update(`graph-1${JSON.stringify(listed)}${graph.finalizer ?? ''}`)
    .digest('hex')
  keys.set(graph, key)
  return key
}

/** Cached: graphs are immutable, and a training asks for the same keys many times. */
const keys = new WeakMap<AgentGraph, string>()

/** The same graph with its units added in another order: `order[k]` is the unit that comes k-th. */
export function reorder(graph: AgentGraph, order: readonly number[]): AgentGraph {
  const placeOf = new Map(order.map((unit, place) => [unit, place]))
  if (order.length !== graph.size || graph.units.some((_, unit) => !placeOf.has(unit))) {
    throw new RangeError(`[${order.join(', ')}] does not name each of the ${graph.size} units once.`)
  }
  return AgentGraph.of(
    order.map((unit) => {
      const { predecessors } = graph.units[unit]!
      const moved = predecessors.map((predecessor) => placeOf.get(predecessor)!)
      return { ...graph.units[unit]!, predecessors: moved }
    }),
    graph.finalizer,
  )
}
