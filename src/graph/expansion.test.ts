import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryGraph } from '../../test/arbitrary-graph.ts'
import { AgentGraph } from './agent-graph.ts'
import { type ExpandedGraph, expand, expandedCounts } from './expansion.ts'

const anyGraph = arbitraryGraph({ maxUnits: 7 })

test('nodes are in dependency order, so the expanded graph is acyclic', () => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      for (const [position, { predecessors }] of expand(graph).nodes.entries()) {
        expect(predecessors.every((predecessor) => predecessor >= 0 && predecessor < position)).toBe(true)
        expect(predecessors).toEqual([...new Set(predecessors)].sort((a, b) => a - b))
      }
    }),
  )
})

test('counts and depth equal those computed from the outer graph', () => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      const { nodes } = expand(graph)
      const edges = nodes.reduce((sum, { predecessors }) => sum + predecessors.length, 0)
      expect(expandedCounts(graph)).toEqual({ nodes: nodes.length, edges })
      const longestTo = (node: number): number => 1 + Math.max(0, ...nodes[node]!.predecessors.map(longestTo))
      expect(graph.depth).toBe(Math.max(0, ...nodes.map((_, node) => longestTo(node))))
    }),
  )
})

test('sinks are the nodes without listeners: the exits of units without successors', () => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      const { nodes, exits, sinks } = expand(graph)
      const heard = new Set(nodes.flatMap(({ predecessors }) => predecessors))
      expect(sinks).toEqual([...nodes.keys()].filter((node) => !heard.has(node)))
      expect(sinks).toEqual(graph.sinks.map((unit) => exits[unit]))
    }),
  )
})

test('a worker hears the exits of all outer predecessors, and an aggregator only its three workers', () => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      const expanded = expand(graph)
      for (const [unit, { realization, predecessors }] of graph.units.entries()) {
        const outside = predecessors.map((predecessor) => exitOf(expanded, predecessor))
        const own = [...expanded.nodes.entries()].filter(([, node]) => node.unit === unit)
        if (realization === 'atomic') {
          expect(own.map(([, node]) => node)).toEqual([
            { unit, part: 'atomic', worker: 0, predecessors: outside },
          ])
        } else {
          const workers = own.slice(0, 3)
          expect(own.map(([, node]) => node)).toEqual([
            ...[0, 1, 2].map((worker) => ({ unit, part: 'worker', worker, predecessors: outside })),
            { unit, part: 'aggregator', worker: 0, predecessors: workers.map(([position]) => position) },
          ])
        }
      }
    }),
  )
})

test('expanding leaves the graph unchanged and is repeatable', () => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      const before = JSON.stringify(graph)
      expect(expand(graph)).toEqual(expand(graph))
      expect(JSON.stringify(graph)).toBe(before)
    }),
  )
})

describe('worked examples', () => {
  test('the empty graph expands to nothing', () => {
    expect(expand(AgentGraph.empty)).toEqual({ nodes: [], exits: [], sinks: [] })
    expect(expandedCounts(AgentGraph.empty)).toEqual({ nodes: 0, edges: 0 })
  })

  test('a group after a group: 8 nodes, 3 + 3 internal edges and one edge into each of 3 workers', () => {
    const graph = AgentGraph.of([
      { role: 'a', realization: 'group', predecessors: [] },
      { role: 'b', realization: 'group', predecessors: [0] },
    ])
    const { nodes, exits, sinks } = expand(graph)
    expect(nodes.map(({ predecessors }) => predecessors)).toEqual([
      [],
      [],
      [],
      [0, 1, 2],
      [3],
      [3],
      [3],
      [4, 5, 6],
    ])
    expect({ exits, sinks, depth: graph.depth }).toEqual({ exits: [3, 7], sinks: [7], depth: 4 })
    expect(expandedCounts(graph)).toEqual({ nodes: 8, edges: 9 })
  })
})

/** The node that speaks for a unit, found by its part instead of the list of exits under test. */
function exitOf({ nodes }: ExpandedGraph, unit: number): number {
  return nodes.findIndex((node) => node.unit === unit && node.part !== 'worker')
}
