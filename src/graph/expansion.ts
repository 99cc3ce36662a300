import type { AgentGraph } from './agent-graph.ts'

const workersPerGroup = 3

/** One agent of the expanded graph: an atomic unit's executor, or a worker or the aggregator of a group. */
export interface ExpandedNode {
  /** The outer unit it belongs to. */
  readonly unit: number
  readonly part: 'atomic' | 'worker' | 'aggregator'
  /** 0, 1 or 2 for a worker, else 0. */
  readonly worker: number
  /** Positions of the nodes it receives messages from, ascending; all precede its own. */
  readonly predecessors: readonly number[]
}

/** The atomic-agent graph that is executed. Nodes are in dependency order. */
export interface ExpandedGraph {
  readonly nodes: readonly ExpandedNode[]
  /** Per outer unit, the node that speaks for it: the unit itself or its group's aggregator. */
  readonly exits: readonly number[]
  /** Nodes whose results the finalizer receives. */
  readonly sinks: readonly number[]
}

/**
 * Replaces every group by its workers and aggregator. Workers hear all external predecessors, the aggregator only its
 * workers.
 */
export function expand(graph: AgentGraph): ExpandedGraph {
  const nodes: ExpandedNode[] = []
  const exits: number[] = []
  for (const [unit, { realization, predecessors }] of graph.units.entries()) {
    const external = predecessors.map((predecessor) => exits[predecessor]!)
    if (realization === 'atomic') {
      nodes.push({ unit, part: 'atomic', worker: 0, predecessors: external })
    } else {
      const first = nodes.length
      for (let worker = 0; worker < workersPerGroup; worker += 1) {
        nodes.push({ unit, part: 'worker', worker, predecessors: external })
      }
      nodes.push({ unit, part: 'aggregator', worker: 0, predecessors: [first, first + 1, first + 2] })
    }
    exits.push(nodes.length - 1)
  }
  return { nodes, exits, sinks: graph.sinks.map((unit) => exits[unit]!) }
}

/** N_exp and E_exp: nodes and edges of the expanded graph. */
export function expandedCounts(graph: AgentGraph): { nodes: number; edges: number } {
  const { nodes } = expand(graph)
  return { nodes: nodes.length, edges: nodes.reduce((sum, node) => sum + node.predecessors.length, 0) }
}
