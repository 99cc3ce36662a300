import { hash } from 'node:crypto'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { ExpandedGraph } from '../graph/expansion.ts'

/**
 * Names of the nodes of an expanded graph, for those who listen to them. A name tells who speaks and, by a digest, which
 * sub-organisation stands behind it: the node and, recursively, those it listens to. Neither the node's position nor the
 * rest of the graph has a part in it, so graphs with a common part send identical requests for it.
 *
 * Nodes with the same executor and equally named predecessors share a name: they get the same requests, and are told
 * apart only where somebody listens to several of them (`request.ts`).
 */
export function nodeNames(
  graph: AgentGraph,
  { nodes }: ExpandedGraph,
  executorOf: (node: number) => string,
): string[] {
  const digests: string[] = []
  return nodes.map(({ unit, part, predecessors }, index) => {
    const { role, realization } = graph.units[unit]!
    const executor = executorOf(index)
    const heard = predecessors.map((predecessor) => digests[predecessor]!).sort()
    const digest = hash('sha256', JSON.stringify([role, realization, part, executor, heard]), 'hex')
    digests.push(digest)
    return `${part === 'worker' ? executor : role}-${digest.slice(0, 8)}`
  })
}
