import { expect, test } from 'vitest'
import { AgentGraph, type Unit } from '../graph/agent-graph.ts'
import { rewardSettings } from '../settings/rewards.ts'
import { roleRepetition, structuralComplexity } from './structural-terms.ts'

const unit = (role: string, realization: Unit['realization'], ...predecessors: number[]): Unit => ({
  role,
  realization,
  predecessors,
})

test('complexity counts expanded nodes and edges above their allowances', () => {
  const twoGroups = AgentGraph.of([unit('solve', 'group'), unit('check', 'group', 0)])
  // 8 nodes; 2 · 3 internal edges, plus the first aggregator to each of 3 workers.
  expect(structuralComplexity(twoGroups, rewardSettings())).toBe(8 - 6 + (9 - 6))
  const weighted = rewardSettings({ nodeWeight: 0.5, edgeWeight: 2, nodeAllowance: 2, edgeAllowance: 0 })
  expect(structuralComplexity(twoGroups, weighted)).toBe(0.5 * 6 + 2 * 9)
})

test('a graph within the allowances costs nothing, and neither does the empty one', () => {
  expect(structuralComplexity(AgentGraph.empty, rewardSettings())).toBe(0)
  const small = AgentGraph.of([unit('solve', 'group'), unit('check', 'atomic', 0)])
  expect(structuralComplexity(small, rewardSettings())).toBe(0)
})

test('repetition counts units after the first of their role, across realizations', () => {
  expect(roleRepetition(AgentGraph.empty)).toBe(0)
  const graph = AgentGraph.of([
    unit('solve', 'atomic'),
    unit('solve', 'group'),
    unit('check', 'atomic'),
    unit('solve', 'atomic'),
    unit('check', 'group'),
  ])
  expect(roleRepetition(graph)).toBe(3)
})
