import { AgentGraph, type Unit } from '../src/graph/agent-graph.ts'
import type { Action, ConstructionSpace } from '../src/graph/legality.ts'
import type { RecordedGroup } from '../src/learning/loss.ts'
import { deriveRandom } from '../src/numerics/random.ts'
import { constructGraphs } from '../src/policy/construction.ts'
import type { ConstructionPolicy } from '../src/policy/policy.ts'
import { numbersLike, threeRoles, tinyOptions } from './tiny-policy.ts'

const learningSpace: ConstructionSpace = {
  roles: threeRoles,
  maxUnits: 3,
  maxDepth: 4,
  restriction: 'mixed',
}
export const learningOptions = tinyOptions(learningSpace)

/** A group as recorded in training: graphs drawn by a policy, with an advantage for every action. */
export function drawGroup(
  policy: ConstructionPolicy,
  seed: number,
  change: Partial<RecordedGroup> = {},
): RecordedGroup {
  const query = numbersLike(3, seed, 1)
  const random = deriveRandom(seed, 'advantages')
  const { restriction = 'mixed', temperature = 1.5 } = change
  const jobs = [0, 1, 2].map((index) => ({
    query,
    random: deriveRandom(seed, 'trajectory', index),
    restriction,
    temperature: 3,
    // Two of three have a mask, so that a group has states with and without one.
    dropout: index < 2,
  }))
  const trajectories = constructGraphs(policy, jobs).map(({ steps }) => steps)
  const advantages = trajectories.map((steps) => steps.map(() => random.normal()))
  return { query, restriction, temperature, trajectories, advantages, ...change }
}

/** An addition to the empty graph, and one that listens to it. */
export const unit: Unit = { role: 'alone', realization: 'atomic', predecessors: [] }
export const other: Unit = { role: 'both', realization: 'group', predecessors: [0] }
export const add = (added: Unit) => ({ type: 'add', ...added }) as const
export const step = (units: Unit[], action: Action) => ({
  graph: AgentGraph.of(units),
  action,
  dropoutKeep: null,
})
