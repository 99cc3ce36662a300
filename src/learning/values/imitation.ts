import { AgentGraph } from '../../graph/agent-graph.ts'
import type { Action, Restriction } from '../../graph/legality.ts'
import type { Random } from '../../numerics/random.ts'
import { shuffled } from '../../numerics/shuffled.ts'
import type { ConstructionStep } from '../../policy/construction.ts'
import type { PolicyLearner } from '../policy-learner.ts'
import type { TrainedUpdate } from '../update.ts'

/** A question's vector, and the graph that the policy should build for it. */
export interface Lesson {
  readonly query: ArrayLike<number>
  readonly graph: AgentGraph
}

/** Questions whose gradients make up one step. */
const batch = 8

/** A mean loss at which every choice is all but certain: further passes would teach nothing. */
const learned = 0.01

/**
 * Teaches the policy to build each question's graph: passes over the questions in random order, with the policy-gradient
 * loss at advantage 1, which is the cross-entropy of the construction's actions. Reports the means of
 * the last pass.
 */
export function imitate(
  learner: PolicyLearner,
  lessons: readonly Lesson[],
  options: { readonly passes: number; readonly restriction: Restriction; readonly random: Random },
): TrainedUpdate['report'] {
  const { passes, restriction, random } = options
  let report = { loss: 0, policyLoss: 0, meanDivergence: 0, meanEntropy: 0 }
  for (let pass = 0; pass < passes; pass += 1) {
    report = { loss: 0, policyLoss: 0, meanDivergence: 0, meanEntropy: 0 }
    for (const [place, index] of shuffled(lessons.keys(), random).entries()) {
      const { query, graph } = lessons[index]!
      const steps = stepsTo(graph)
      const group = {
        query,
        restriction,
        temperature: 1,
        trajectories: [steps],
        advantages: [steps.map(() => 1)],
      }
      const one = learner.accumulateGradients(group)
      for (const field of Object.keys(report) as (keyof typeof report)[])
        report[field] += one[field] / lessons.length
      if (place % batch === batch - 1 || place === lessons.length - 1) learner.applyGradients()
    }
    if (report.policyLoss < learned) break
  }
  return report
}

/** The actions that build a graph, unit by unit, and STOP. */
export function actionsTo(graph: AgentGraph): Action[] {
  return [...graph.units.map((unit) => ({ type: 'add' as const, ...unit })), { type: 'stop' }]
}

function stepsTo(graph: AgentGraph): ConstructionStep[] {
  let built = AgentGraph.empty
  return actionsTo(graph).map((action) => {
    const step = { graph: built, action, dropoutKeep: null }
    if (action.type === 'add') built = built.add(action)
    return step
  })
}
