import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryBuildOrder, arbitraryGraph } from '../../test/arbitrary-graph.ts'
import type { Realization } from '../library/role-space.ts'
import { AgentGraph } from './agent-graph.ts'
import { canonicalOrder } from './canonical-order.ts'
import { graphKey, reorder } from './graph-key.ts'

describe('equal for graphs that differ only in construction order', () => {
  const graphAndOrder = arbitraryGraph({ maxUnits: 9 }).chain((graph) =>
    arbitraryBuildOrder(graph).map((order) => ({ graph, order })),
  )

  test('every valid order of adding the units gives the same key and canonical graph', () => {
    fc.assert(
      fc.property(graphAndOrder, ({ graph, order }) => {
        const rebuilt = reorder(graph, order)
        expect(graphKey(rebuilt)).toBe(graphKey(graph))
        expect(reorder(rebuilt, canonicalOrder(rebuilt)).units).toEqual(
          reorder(graph, canonicalOrder(graph)).units,
        )
      }),
      { numRuns: 500 },
    )
  })

  test('the order of listed predecessors does not matter', () => {
    const build = (predecessors: number[]) =>
      graphOf(['a', 'atomic', []], ['a', 'group', []], ['b', 'atomic', predecessors])
    expect(graphKey(build([0, 1]))).toBe(graphKey(build([1, 0])))
  })
})

describe('different otherwise', () => {
  test('on small graphs, equal exactly when a brute-force search finds an isomorphism', () => {
    const small = arbitraryGraph({ maxUnits: 5 })
    const pair = fc.oneof(
      fc.tuple(small, small),
      // Independent graphs are rarely isomorphic; one changed edge or label is the hard case.
      small.chain((graph) => fc.tuple(fc.constant(graph), arbitraryNeighbour(graph))),
    )
    fc.assert(
      fc.property(pair, ([one, other]) => {
        expect(graphKey(one) === graphKey(other)).toBe(isomorphic(one, other))
      }),
      { numRuns: 2000 },
    )
  })

  test('the number of keys equals the number of unlabelled directed acyclic graphs (OEIS A003087)', () => {
    const counts = [0, 1, 2, 3, 4, 5].map((size) => new Set(allGraphs(size, ['a']).map(graphKey)).size)
    expect(counts).toEqual([1, 1, 2, 6, 31, 302])
  })

  test('with two labels, keys separate four-unit graphs like the brute-force search', () => {
    const bySlowForm = new Map<string, Set<string>>()
    const keys = new Set<string>()
    for (const graph of allGraphs(4, ['a', 'b'])) {
      const form = slowForm(graph)
      const key = graphKey(graph)
      keys.add(key)
      bySlowForm.set(form, (bySlowForm.get(form) ?? new Set()).add(key))
    }
    expect([...bySlowForm.values()].every((group) => group.size === 1)).toBe(true)
    expect(keys.size).toBe(bySlowForm.size)
  })

  test('a shared predecessor differs from two equal ones', () => {
    const shared = graphOf(
      ['a', 'atomic', []],
      ['a', 'atomic', []],
      ['b', 'atomic', [0]],
      ['b', 'atomic', [0]],
    )
    const apart = graphOf(
      ['a', 'atomic', []],
      ['a', 'atomic', []],
      ['b', 'atomic', [0]],
      ['b', 'atomic', [1]],
    )
    expect(graphKey(shared)).not.toBe(graphKey(apart))
  })

  test('one cycle of eight differs from two cycles of four, though all neighbourhoods look alike', () => {
    const layers = (targets: number[][]) =>
      graphOf(
        ...targets.map(() => ['a', 'atomic', []] as const),
        ...targets.map((predecessors) => ['b', 'atomic', predecessors] as const),
      )
    const one = layers([
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 0],
    ])
    const two = layers([
      [0, 1],
      [0, 1],
      [2, 3],
      [2, 3],
    ])
    const oneAgain = layers([
      [2, 0],
      [0, 3],
      [3, 1],
      [1, 2],
    ])
    expect(graphKey(one)).not.toBe(graphKey(two))
    expect(graphKey(one)).toBe(graphKey(oneAgain))
  })

  test('role, realization and edge direction count, and hostile role names cannot imitate another graph', () => {
    const graphs = [
      graphOf(),
      graphOf(['a', 'atomic', []]),
      graphOf(['a', 'group', []]),
      graphOf(['b', 'atomic', []]),
      graphOf(['a', 'atomic', []], ['b', 'atomic', []]),
      graphOf(['a', 'atomic', []], ['b', 'atomic', [0]]),
      graphOf(['b', 'atomic', []], ['a', 'atomic', [0]]),
      graphOf(['a","atomic",[]],["b', 'atomic', []]),
      graphOf(['\ud800', 'atomic', []]),
      graphOf(['\udc00', 'atomic', []]),
    ]
    expect(new Set(graphs.map(graphKey)).size).toBe(graphs.length)
  })
})

describe('symmetric graphs of twelve or more units need no search over permutations', () => {
  const twelve = Array.from({ length: 12 }, (_, index) => index)
  const cases: [string, AgentGraph][] = [
    ['isolated', graphOf(...twelve.map(() => ['a', 'atomic', []] as const))],
    ['six pairs', graphOf(...twelve.map((i) => ['a', 'atomic', i < 6 ? [] : [i - 6]] as const))],
    ['four chains of three', graphOf(...twelve.map((i) => ['a', 'atomic', i < 4 ? [] : [i - 4]] as const))],
    ['all to all', graphOf(...twelve.map((i) => ['a', 'atomic', i < 6 ? [] : [0, 1, 2, 3, 4, 5]] as const))],
    ['ring', graphOf(...twelve.map((i) => ['a', 'atomic', i < 6 ? [] : [i - 6, (i - 5) % 6]] as const))],
    ['binary tree', graphOf(...twelve.map((i) => ['a', 'group', i === 0 ? [] : [(i - 1) >> 1]] as const))],
    [
      'all but the opposite',
      graphOf(
        ...twelve.map(
          (i) => ['a', 'atomic', i < 6 ? [] : [0, 1, 2, 3, 4, 5].filter((j) => j !== i - 6)] as const,
        ),
      ),
    ],
    [
      'twenty pairs',
      graphOf(...Array.from({ length: 40 }, (_, i) => ['a', 'atomic', i < 20 ? [] : [i - 20]] as const)),
    ],
  ]

  test.each(cases)('%s', (_, graph) => {
    fc.assert(
      fc.property(arbitraryBuildOrder(graph), (order) => {
        expect(graphKey(reorder(graph, order))).toBe(graphKey(graph))
      }),
      { numRuns: 10 },
    )
  })
})

test('reorder refuses anything but an order of the units', () => {
  const chain = graphOf(['a', 'atomic', []], ['b', 'atomic', [0]])
  expect(() => reorder(chain, [0, 0])).toThrow(/each of the 2 units/)
  expect(() => reorder(chain, [0])).toThrow(/each of the 2 units/)
  expect(() => reorder(chain, [1, 0])).toThrow(/not an earlier unit/)
})

function graphOf(...units: (readonly [string, Realization, readonly number[]])[]): AgentGraph {
  return AgentGraph.of(
    units.map(([role, realization, predecessors]) => ({ role, realization, predecessors })),
  )
}

/** Every graph of this size with atomic units of the given roles. */
function allGraphs(size: number, roles: readonly string[]): AgentGraph[] {
  let graphs = [AgentGraph.empty]
  for (let position = 0; position < size; position += 1) {
    graphs = graphs.flatMap((graph) =>
      roles.flatMap((role) =>
        Array.from({ length: 1 << position }, (_, chosen) =>
          graph.add({
            role,
            realization: 'atomic',
            predecessors: [...graph.units.keys()].filter((unit) => (chosen >> unit) & 1),
          }),
        ),
      ),
    )
  }
  return graphs
}

/** The graph with one edge toggled or one role changed, built in another order. */
function arbitraryNeighbour(graph: AgentGraph): fc.Arbitrary<AgentGraph> {
  return fc
    .record({ unit: fc.nat(), edge: fc.nat(), relabel: fc.boolean() })
    .map(({ unit, edge, relabel }) =>
      AgentGraph.of(
        graph.units.map((original, position) => {
          if (position !== unit % graph.size) return original
          if (relabel || position === 0) return { ...original, role: original.role === 'a' ? 'b' : 'a' }
          const toggled = edge % position
          const { predecessors } = original
          return {
            ...original,
            predecessors: predecessors.includes(toggled)
              ? predecessors.filter((predecessor) => predecessor !== toggled)
              : [...predecessors, toggled],
          }
        }),
      ),
    )
    .chain((changed) => arbitraryBuildOrder(changed).map((order) => reorder(changed, order)))
}

function isomorphic(one: AgentGraph, other: AgentGraph): boolean {
  if (one.size !== other.size) return false
  return permutations(one.size).some((image) =>
    one.units.every((unit, position) => {
      const twin = other.units[image[position]!]!
      const mapped = new Set(unit.predecessors.map((predecessor) => image[predecessor]!))
      return (
        twin.role === unit.role &&
        twin.realization === unit.realization &&
        twin.predecessors.length === mapped.size &&
        twin.predecessors.every((predecessor) => mapped.has(predecessor))
      )
    }),
  )
}

/** The smallest text over all numberings of the units. */
function slowForm(graph: AgentGraph): string {
  const texts = permutations(graph.size).map((image) => {
    const rows: string[] = []
    for (const [position, { role, predecessors }] of graph.units.entries()) {
      rows[image[position]!] = `${role}:${predecessors.map((predecessor) => image[predecessor]!).sort()}`
    }
    return rows.join(';')
  })
  return texts.sort()[0]!
}

function permutations(size: number): number[][] {
  if (size === 0) return [[]]
  return permutations(size - 1).flatMap((shorter) =>
    Array.from({ length: size }, (_, place) => [
      ...shorter.slice(0, place),
      size - 1,
      ...shorter.slice(place),
    ]),
  )
}
