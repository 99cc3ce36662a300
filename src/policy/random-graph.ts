import { AgentGraph } from '../graph/agent-graph.ts'
import { type ConstructionSpace, legalityMasks } from '../graph/legality.ts'
import type { Random } from '../numerics/random.ts'
import { ActionDistribution, emptyLogits } from './distribution.ts'

/** What a policy would draw whose logits are all zero: at every step each legal choice is as likely as any other. */
export function randomGraph(space: ConstructionSpace, random: Random): AgentGraph {
  let graph = AgentGraph.empty
  for (;;) {
    const even = emptyLogits(space.roles.roles.length, graph.size)
    const action = new ActionDistribution(space.roles, legalityMasks(graph, space), even, 1).sample(random)
    if (action.type === 'stop') return graph
    graph = graph.add(action)
  }
}
