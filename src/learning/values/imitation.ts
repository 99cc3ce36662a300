import type { AgentGraph } from '../../graph/agent-graph.ts'
import type { Restriction } from '../../graph/legality.ts'
import type { Random } from '../../numerics/random.ts'
import { shuffled } from '../../numerics/shuffled.ts'
import type { PolicyLearner } from '../policy-learner.ts'
import { demonstrationGroup } from '../search/demonstration.ts'
import type { TrainedUpdate } from '../update.ts'

/** A question's vector and the graph the policy should build for it. */
export interface Lesson {
  readonly query: ArrayLike<number>
  readonly graph: AgentGraph
}

/** Questions per optimizer step. */
const batch = 8

/** At this mean loss every choice is nearly certain, and further passes teach nothing. */
const learned = 0.01

/**
 * Teaches the policy to build each question's graph, in passes over the questions in random order. The loss is the
 * policy-gradient loss at advantage 1: the cross-entropy of the construction's actions. Returns the means of the last
 * pass.
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
      const one = learner.accumulateGradients(demonstrationGroup(query, graph, () => null, restriction))
      for (const field of Object.keys(report) as (keyof typeof report)[])
        report[field] += one[field] / lessons.length
      if (place % batch === batch - 1 || place === lessons.length - 1) learner.applyGradients()
    }
    if (report.policyLoss < learned) break
  }
  return report
}
