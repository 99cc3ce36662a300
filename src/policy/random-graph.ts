import { AgentGraph } from '../graph/agent-graph.ts'
import { type ConstructionSpace, legalityMasks } from '../graph/legality.ts'
import type { Random } from '../numerics/random.ts'
import { ActionDistribution, emptyLogits } from './distribution.ts'

/** Draws as a policy with all logits zero would: at every step all legal choices are equally likely. */
export function randomGraph(space: ConstructionSpace, random: Random): AgentGraph {
  let graph = AgentGraph.empty
  for (;;) {
    const even = emptyLogits(space.roles.roles.length, graph.size)
    const action = new ActionDistribution(space.roles, legalityMasks(graph, space), even, 1).sample(random)
    if (action.type === 'stop') return graph
    graph = graph.add(action)
  }
}
