import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitrarySituation, numbersLike, tinyOptions, tinyParameters } from '../../../test/tiny-policy.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import type { ConstructionSpace } from '../../graph/legality.ts'
import { defineRoleSpace } from '../../library/role-space.ts'
import { type DecisionState, PlainNetwork } from './network.ts'

const space: ConstructionSpace = {
  roles: defineRoleSpace([
    { id: 'both', atomic: true, group: true },
    { id: 'alone', atomic: true, group: false },
  ]),
  maxUnits: 3,
  maxDepth: 4,
  restriction: 'mixed',
}
const options = tinyOptions(space)
const network = new PlainNetwork(tinyParameters(options), options)
const query = numbersLike(3, 9, 1)
const atomic = { role: 'both', realization: 'atomic', predecessors: [] } as const

function decide(units: Parameters<typeof AgentGraph.of>[0], rest: Partial<DecisionState> = {}) {
  return network.decide({
    query,
    graph: AgentGraph.of(units),
    restriction: 'mixed',
    dropoutKeep: null,
    ...rest,
  })
}

test('logits are computed exactly where the masks allow', () => {
  fc.assert(
    fc.property(arbitrarySituation, ({ space, graph, options, seed }) => {
      const { roles, restriction } = space
      const { masks, ...decision } = new PlainNetwork(tinyParameters(options, seed), options, true).decide({
        query,
        graph,
        restriction,
        dropoutKeep: null,
      })
      const present = (logits: readonly unknown[]) =>
        Uint8Array.from(logits, (logit) => (logit === null ? 0 : 1))
      expect(present(decision.roleLogits)).toEqual(masks.roles)
      expect(present(decision.granularityLogits)).toEqual(masks.realizations)
      expect(present(decision.edgeLogits)).toEqual(masks.edges)
      expect(decision.roleLogits).toHaveLength(roles.roles.length + 1)
      expect(decision.nodeStates).toHaveLength(graph.size)
      expect(decision.context.data.every(Number.isFinite)).toBe(true)
    }),
  )
})

test('out-degrees matter: a new listener changes the encoding of its predecessor', () => {
  const [alone] = decide([atomic, atomic]).nodeStates
  const [heard] = decide([atomic, { ...atomic, predecessors: [0] }]).nodeStates
  expect(heard!.data).not.toEqual(alone!.data)
})

test('dropout scales the kept entries, and evaluation drops none', () => {
  const all = [new Uint8Array(4).fill(1)]
  const free = new PlainNetwork(tinyParameters(options), { ...options, dropoutRate: 0 })
  const state = { query, graph: AgentGraph.of([atomic]), restriction: 'mixed' } as const
  const evaluated = decide([atomic]).context.data
  expect(free.decide({ ...state, dropoutKeep: all }).context.data).toEqual(evaluated)
  expect(network.decide({ ...state, dropoutKeep: all }).context.data).not.toEqual(evaluated)
})

test('a restriction only masks: the excluded embedding is still read', () => {
  const free = decide([]).granularityLogits[0]!.number
  const restricted = decide([], { restriction: 'all-atomic' })
  expect(restricted.granularityLogits[0]!.number).toBe(free)
  expect(restricted.granularityLogits[1]).toBeNull()
})

test('an empty graph has its own vector', () => {
  const context = decide([]).context
  const parameters = new Map(tinyParameters(options))
  parameters.set('empty_graph', { shape: [4], data: Float64Array.of(1, 0, 0, 0) })
  const other = new PlainNetwork(parameters, options)
  const state = { query, restriction: 'mixed', dropoutKeep: null } as const
  expect(other.decide({ ...state, graph: AgentGraph.empty }).context.data).not.toEqual(context.data)
  const graph = AgentGraph.of([atomic])
  expect(other.decide({ ...state, graph }).context.data).toEqual(decide([atomic]).context.data)
})

test('mismatched input is refused', () => {
  expect(() => decide([atomic, atomic, atomic, atomic])).toThrow('4 units exceeds the limit of 3')
  expect(() => decide([{ ...atomic, predecessors: [0] }])).toThrow('not an earlier unit')
  expect(() => decide([{ ...atomic, role: 'alone', realization: 'group' }])).toThrow('no group form')
  expect(() => decide([{ ...atomic, role: 'nobody' }])).toThrow("no role 'nobody'")
  expect(() => decide([], { query: query.slice(1) })).toThrow(RangeError)
  expect(() => decide([atomic], { dropoutKeep: [new Uint8Array(3)] })).toThrow('3 entries where 4')
})
