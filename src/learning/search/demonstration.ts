import { AgentGraph } from '../../graph/agent-graph.ts'
import type { Action } from '../../graph/legality.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { type ConstructionStep, drawDropout } from '../../policy/construction.ts'
import type { ConstructionPolicy } from '../../policy/policy.ts'
import type { LossWeights, RecordedGroup } from '../loss.ts'

/** Imitation uses neither KL nor entropy. */
export const imitationWeights: LossWeights = { divergence: 0, entropy: 0 }

type DropoutKeep = ConstructionStep['dropoutKeep']

/**
 * A demonstration in the form an update learns from: one trajectory with the graph's additions in construction order
 * and STOP, every advantage 1, at temperature 1. The policy loss is then the cross-entropy L = −1/M Σ_t log π(a_t |
 * s_t).
 */
export function demonstrationGroup(
  query: ArrayLike<number>,
  graph: AgentGraph,
  dropoutKeep: (position: number, before: AgentGraph) => DropoutKeep,
  restriction: RecordedGroup['restriction'] = 'mixed',
): RecordedGroup {
  let built = AgentGraph.empty
  const steps = actionsTo(graph).map((action, position) => {
    const step = { graph: built, action, dropoutKeep: dropoutKeep(position, built) }
    if (action.type === 'add') built = built.add(action)
    return step
  })
  return { query, restriction, temperature: 1, trajectories: [steps], advantages: [steps.map(() => 1)] }
}

/** The actions that build a graph, unit by unit, then STOP. */
export function actionsTo(graph: AgentGraph): Action[] {
  return [...graph.units.map((unit) => ({ type: 'add' as const, ...unit })), { type: 'stop' }]
}

/** One mask per position, reproducible per stage and question. */
export function imitationDropout(
  policy: ConstructionPolicy,
  { seed, stage, question }: { readonly seed: number; readonly stage: number; readonly question: string },
): (position: number, before: AgentGraph) => DropoutKeep {
  return (position, before) =>
    drawDropout(policy, before, deriveRandom(seed, 'sft', stage, question, position))
}
