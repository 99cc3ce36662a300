import type { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'

/**
 * `part`: a property that graphs may share. `pair`: two roles that occur together or are connected. `self`: the graph
 * itself.
 */
export interface GraphTrait {
  readonly name: string
  readonly kind: 'part' | 'pair' | 'self'
}

/** What graphs have in common, so that evaluating one tells something about others. */
export function graphTraits(graph: AgentGraph): GraphTrait[] {
  const { units } = graph
  const part = (name: string): GraphTrait => ({ name, kind: 'part' })
  const pair = (name: string): GraphTrait => ({ name, kind: 'pair' })
  const edges = units.flatMap(({ role, predecessors }) =>
    predecessors.map((predecessor) => `${units[predecessor]!.role} > ${role}`),
  )
  const together = units.flatMap(({ role }, index) =>
    units.slice(index + 1).map((other) => [role, other.role].sort().join(' + ')),
  )
  return [
    ...units.flatMap(({ role, realization }) => [part(`${role} ${realization}`), part(role)]),
    part(`${units.length} units`),
    part(`${edges.length} edges`),
    ...graph.sinks.map((sink) => part(`heard ${units[sink]!.role}`)),
    ...together.map(pair),
    ...edges.map(pair),
    { name: graphKey(graph), kind: 'self' },
  ]
}
