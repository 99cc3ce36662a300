import type { AgentGraph } from '../graph/agent-graph.ts'
import { expandedCounts } from '../graph/expansion.ts'
import type { RewardSettings } from '../settings/rewards.ts'

/**
 * Structural complexity C(G) = w_n [N_exp(G) − b_n]_+ + w_e [E_exp(G) − b_e]_+, over the expanded graph without the
 * finalizer.
 */
export function structuralComplexity(graph: AgentGraph, settings: RewardSettings): number {
  const { nodes, edges } = expandedCounts(graph)
  return (
    settings.nodeWeight * Math.max(0, nodes - settings.nodeAllowance) +
    settings.edgeWeight * Math.max(0, edges - settings.edgeAllowance)
  )
}

/** Role repetition D(G) = Σ_r [m_r(G) − 1]_+: the units beyond the first of each role, atomic or group. */
export function roleRepetition(graph: AgentGraph): number {
  return graph.size - new Set(graph.units.map((unit) => unit.role)).size
}
