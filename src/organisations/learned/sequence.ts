import { AgentGraph, type Finalizer, type Unit } from '../../graph/agent-graph.ts'
import type { Random } from '../../numerics/random.ts'
import type { Agent } from './agents.ts'

/** A graph as a sequence of decisions: agents in order, and which earlier ones each hears. */
export interface Sequence {
  /** Positions in the pool. */
  readonly nodes: readonly number[]
  /** For each node, a bit per earlier node. */
  readonly heard: readonly (readonly boolean[])[]
}

/** The sequence of a graph whose agents are in the pool, in the graph's topological order. */
export function sequenceOf({ units }: AgentGraph, pool: readonly Agent[]): Sequence {
  return {
    nodes: units.map(({ role, realization }) =>
      pool.findIndex((agent) => agent.id === role && agent.realization === realization),
    ),
    heard: units.map(({ predecessors }, node) =>
      Array.from({ length: node }, (_, earlier) => predecessors.includes(earlier)),
    ),
  }
}

export function sequenceGraph({ nodes, heard }: Sequence, pool: readonly Agent[], finalizer: Finalizer) {
  const isMarked = new Set(nodes).size < nodes.length
  const units = nodes.map((node, place): Unit => {
    const { id: role, realization } = pool[node]!
    const predecessors = heard[place]!.flatMap((is, earlier) => (is ? [earlier] : []))
    return { role, realization, predecessors, ...(isMarked && { agent: place }) }
  })
  return AgentGraph.of(units, finalizer)
}

/** Draws an entry by log-probabilities, excluding those in `closed`. */
export function drawEntry(
  logs: Float32Array,
  random: Random,
  closed: ReadonlySet<number> = new Set(),
): number {
  const weights = Array.from(logs, (log, entry) => (closed.has(entry) ? 0 : Math.exp(log)))
  const u = random.uniform() * weights.reduce((sum, weight) => sum + weight, 0)
  let sum = 0
  for (const [entry, weight] of weights.entries()) {
    sum += weight
    if (weight > 0 && sum > u) return entry
  }
  return weights.findLastIndex((weight) => weight > 0)
}
