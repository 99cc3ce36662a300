import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryGraph } from '../../test/arbitrary-graph.ts'
import { tinyExecutor, tinyTaskSet } from '../../test/tiny-task-set.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import { deriveRandom } from '../numerics/random.ts'
import { autogen } from '../organisations/autogen.ts'
import { llmDebate } from '../organisations/llm-debate.ts'
import { openOrganisation } from '../organisations/open-organisation.ts'
import { evaluateOrganisation } from './evaluate-organisation.ts'
import { disturbed, type Interventions, rewired, withoutRole } from './interventions.ts'

const { library, profile } = tinyTaskSet
const means = { library, profile, seed: 1, encoder: () => Promise.reject(new Error('not needed')) }

test('rewiring preserves units and degrees', () => {
  fc.assert(
    fc.property(arbitraryGraph({ maxUnits: 8 }), fc.nat(1000), (graph, seed) => {
      const other = rewired(graph, deriveRandom(seed))
      const indegrees = (one: AgentGraph) => one.units.map(({ predecessors }) => predecessors.length)
      expect(indegrees(other)).toEqual(indegrees(graph))
      expect(other.outdegrees).toEqual(graph.outdegrees)
      expect(other.units.map(({ role }) => role)).toEqual(graph.units.map(({ role }) => role))
      expect(rewired(graph, deriveRandom(seed))).toEqual(other)
    }),
  )
})

test('rewiring changes a debate', async () => {
  const { organisation } = await openOrganisation(llmDebate, means, { agents: 5 })
  const graph =
    'drive' in organisation
      ? AgentGraph.empty
      : await organisation.graphFor(tinyTaskSet.splits['test']!.tasks[0]!)
  expect(rewired(graph, deriveRandom(3))).toEqual(graph)
  const sparse = AgentGraph.of(
    [[], [], [], [0], [1], [2]].map((predecessors) => ({
      role: 'solver',
      realization: 'atomic',
      predecessors,
    })),
    'vote',
  )
  const changed = rewired(sparse, deriveRandom(3))
  expect(changed.units).not.toEqual(sparse.units)
  expect(changed.finalizer).toBe('vote')
})

test('dropping a role drops its edges', () => {
  const graph = AgentGraph.of(
    ['a', 'b', 'c'].map((role, place) => ({
      ...{ role, realization: 'atomic' as const },
      predecessors: [...Array(place).keys()],
    })),
  )
  expect(withoutRole(graph, 'b').units).toEqual([
    { role: 'a', realization: 'atomic', predecessors: [] },
    { role: 'c', realization: 'atomic', predecessors: [0] },
  ])
})

const evaluated = async (interventions: Interventions, seed = 1) => {
  const named = disturbed(await openOrganisation(llmDebate, means), interventions, seed)
  const { organisation, disturbance, about } = named
  const report = await evaluateOrganisation({
    executor: tinyExecutor(),
    split: 'test',
    organisation,
    disturbance,
  })
  return { report, about, answers: report.records.map(({ answer }) => answer) }
}

test('disturbances do what they say, depend only on the seed, and are reported', async () => {
  const plain = await evaluated({})
  expect(plain.about).toEqual({ seed: 1 })
  const failing = await evaluated({ failWorker: 0.5 })
  expect(failing.report.calls).toBeLessThan(plain.report.calls)
  expect(failing.report.failures.nodes).toBeGreaterThan(0)
  expect(failing.report.organisation).toBe('llm-debate, 0.5 of workers failing')
  expect(failing.about).toEqual({ seed: 1, failWorker: 0.5, interventionSeed: 1 })
  expect((await evaluated({ failWorker: 0.5 })).answers).toEqual(failing.answers)
  const corrupt = await evaluated({ corruptMessage: 1 })
  expect(corrupt.answers).not.toEqual(plain.answers)
  expect(corrupt.report.calls).toBe(plain.report.calls)
  const none = await evaluated({ dropRole: 'solver' })
  // No unit is left: the model answers alone.
  expect(none.report.records.every(({ graph }) => graph.units.length === 0)).toBe(true)
})

test('driver organisations have no edges to rewire', async () => {
  const named = await openOrganisation(autogen, means)
  expect(() => disturbed(named, { rewire: true }, 1)).toThrow('it has no edges to rewire')
})
