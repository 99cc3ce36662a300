import { AgentGraph, type Unit } from '../../src/graph/agent-graph.ts'
import { type AnswerContract, optionLabel } from '../../src/library/answer-contract.ts'
import type { Task } from '../../src/library/task.ts'

function unit(role: string, realization: Unit['realization'], ...predecessors: number[]): Unit {
  return { role, realization, predecessors }
}

/** The graphs that every engine runs. No role appears twice, so every node has a unique name. */
export const shapes = {
  atomic: AgentGraph.of([unit('independent_solver', 'atomic')]),
  chain: AgentGraph.of([
    unit('task_decomposer', 'atomic'),
    unit('independent_solver', 'atomic', 0),
    unit('adversarial_verifier', 'atomic', 1),
  ]),
  group: AgentGraph.of([unit('independent_solver', 'group')]),
  groups: AgentGraph.of([unit('independent_solver', 'group'), unit('adversarial_verifier', 'group', 0)]),
  parallel: AgentGraph.of([
    unit('independent_solver', 'atomic'),
    unit('knowledge_reasoner', 'atomic'),
    unit('option_eliminator', 'atomic'),
  ]),
  mixed: AgentGraph.of([
    unit('task_decomposer', 'atomic'),
    unit('independent_solver', 'group', 0),
    unit('option_eliminator', 'atomic', 0, 1),
  ]),
} as const satisfies Record<string, AgentGraph>

export type ShapeName = keyof typeof shapes

export const shapeNames = Object.keys(shapes) as ShapeName[]

/** Calls on the longest path, including the finalizer's. */
export function criticalPath(graph: AgentGraph): number {
  return graph.depth + 1
}

const texts = [
  'It falls by half, since the pressure is proportional to the absolute temperature.',
  'It stays the same, since no gas enters or leaves.',
  'It doubles, since twice as many molecules hit the wall in the same time.',
  'It rises by the square root of two, as the mean speed does.',
  'It depends on the shape of the vessel.',
]

export const task: Task = {
  id: 'bench',
  question:
    'A rigid vessel that holds one mole of an ideal gas is cooled slowly from 600 K to 300 K. A valve is then opened ' +
    'for a moment, so that a second mole of the same gas, also at 300 K, can flow in. What has become of the pressure ' +
    'after the first step, before the valve was opened? Choose the statement whose conclusion and reason both hold.',
  options: texts.map((text, index) => ({ label: 'ABCDE'[index]!, text })),
  metadata: {},
}

export const contract: AnswerContract = optionLabel

/** The comparison leaves out tools. */
export const profile = { id: 'bench', tools: [] } as const
