import { expect, test } from 'vitest'
import { tinyLibrary } from '../../../test/tiny-library.ts'
import { tinyOptions, tinyPolicy } from '../../../test/tiny-policy.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import { paperAdam } from '../../numerics/adam.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { constructGraphs } from '../../policy/construction.ts'
import { PolicyLearner } from '../policy-learner.ts'
import { imitate } from './imitation.ts'

test('the policy learns to build each question’s own graph', () => {
  const space = { roles: tinyLibrary.space, restriction: 'mixed' as const, maxUnits: 2, maxDepth: 4 }
  const policy = tinyPolicy(tinyOptions(space))
  const learner = new PolicyLearner(policy, {
    adam: { ...paperAdam, learningRate: 0.02 },
    weights: { divergence: 0, entropy: 0 },
  })
  const chain = AgentGraph.of([
    { role: 'a', realization: 'atomic', predecessors: [] },
    { role: 'b', realization: 'group', predecessors: [0] },
  ])
  const lessons = [
    { query: [1, 0, 0], graph: chain },
    { query: [0, 1, 0], graph: AgentGraph.empty },
  ]
  const random = deriveRandom('imitation')
  const before = imitate(learner, lessons, { passes: 1, restriction: 'mixed', random })
  const after = imitate(learner, lessons, { passes: 200, restriction: 'mixed', random })
  expect(after.loss).toBeLessThan(before.loss / 5)
  const built = constructGraphs(
    policy,
    lessons.map(({ query }) => ({
      query,
      restriction: 'mixed' as const,
      temperature: 1,
      dropout: false,
    })),
  )
  expect(built.map(({ graph }) => graphKey(graph))).toEqual(lessons.map(({ graph }) => graphKey(graph)))
})
