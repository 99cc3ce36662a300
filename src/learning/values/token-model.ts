import type { AgentGraph } from '../../graph/agent-graph.ts'
import type { SeenGraph, ValueModel } from './value-model.ts'

/** Weight of the mean of equally large graphs, in looks. */
const shrinkage = 4

/** Expected tokens of a graph per question: its own mean, shrunk towards that of graphs with as many agents. */
export function tokenModel(model: ValueModel): (graph: SeenGraph) => number {
  const bySize = new Map<number, { tokens: number; looks: number }>()
  const all = { tokens: 0, looks: 0, agents: 0 }
  for (const { graph, tokens, looks } of model.seen.values()) {
    const alike = bySize.get(agentsIn(graph)) ?? { tokens: 0, looks: 0 }
    bySize.set(agentsIn(graph), { tokens: alike.tokens + tokens, looks: alike.looks + looks })
    all.tokens += tokens
    all.looks += looks
    all.agents += looks * (agentsIn(graph) + 1)
  }
  const perAgent = all.tokens / Math.max(1, all.agents)
  return ({ graph, tokens, looks }) => {
    const alike = bySize.get(agentsIn(graph))
    const usual = alike === undefined ? perAgent * (agentsIn(graph) + 1) : alike.tokens / alike.looks
    return (tokens + shrinkage * usual) / (looks + shrinkage)
  }
}

function agentsIn({ units }: AgentGraph): number {
  return units.reduce((sum, { realization }) => sum + (realization === 'group' ? 4 : 1), 0)
}
