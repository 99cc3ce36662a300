import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryGraph } from '../../test/arbitrary-graph.ts'
import { AgentGraph, depthOf, InvalidGraphError, type Unit } from './agent-graph.ts'

const solver: Unit = { role: 'solver', realization: 'atomic', predecessors: [] }

describe('immutability', () => {
  test('adding returns a new graph and leaves the old one unchanged', () => {
    fc.assert(
      fc.property(arbitraryGraph({ maxUnits: 6 }), (graph) => {
        const before = JSON.stringify(graph)
        const grown = graph.add({ role: 'c', realization: 'group', predecessors: [...graph.units.keys()] })
        expect(JSON.stringify(graph)).toBe(before)
        expect(grown.units.slice(0, graph.size)).toEqual(graph.units)
        expect(grown.size).toBe(graph.size + 1)
      }),
    )
  })

  test('a graph cannot be changed from outside, not even through the objects it was built from', () => {
    const predecessors = [0]
    const unit = { role: 'critic', realization: 'group' as const, predecessors }
    const graph = AgentGraph.of([solver, unit])
    predecessors.push(7)
    unit.role = 'other'
    expect(graph.units[1]).toEqual({ role: 'critic', realization: 'group', predecessors: [0] })
    expect(() => Object.assign(graph.units, { 0: unit })).toThrow(TypeError)
    expect(() => Object.assign(graph.units[0]!, { role: 'other' })).toThrow(TypeError)
    expect(() => Object.assign(graph.units[1]!.predecessors, { 0: 1 })).toThrow(TypeError)
    expect(() => Object.assign(graph.exitDepths, { 0: 9 })).toThrow(TypeError)
    expect(() => Object.assign(graph, { units: [] })).toThrow(TypeError)
    expect(() => Object.assign(AgentGraph.empty, { units: [solver] })).toThrow(TypeError)
  })

  test('getters return copies', () => {
    const graph = AgentGraph.of([solver])
    graph.outdegrees[0] = 5
    graph.sinks.pop()
    expect(graph.outdegrees).toEqual([0])
    expect(graph.sinks).toEqual([0])
  })
})

describe('derived values', () => {
  test('depth, out-degrees and sinks agree with a walk over all paths', () => {
    fc.assert(
      fc.property(arbitraryGraph({ maxUnits: 7 }), (graph) => {
        const longestTo = (unit: number): number => {
          const { realization, predecessors } = graph.units[unit]!
          return depthOf(realization) + Math.max(0, ...predecessors.map(longestTo))
        }
        const listeners = graph.units.map((_, unit) =>
          graph.units.filter((other) => other.predecessors.includes(unit)),
        )
        expect(graph.exitDepths).toEqual(graph.units.map((_, unit) => longestTo(unit)))
        expect(graph.depth).toBe(graph.exitDepths.reduce((deepest, depth) => Math.max(deepest, depth), 0))
        expect(graph.outdegrees).toEqual(listeners.map((units) => units.length))
        expect(graph.sinks).toEqual([...graph.units.keys()].filter((unit) => listeners[unit]!.length === 0))
      }),
    )
  })

  test('a JSON round trip gives the same graph', () => {
    fc.assert(
      fc.property(arbitraryGraph({ maxUnits: 6 }), (graph) => {
        const { units } = JSON.parse(JSON.stringify(graph))
        expect(AgentGraph.of(units)).toEqual(graph)
      }),
    )
  })
})

describe('refusals name the unit', () => {
  const cases: [string, readonly Unit[], RegExp][] = [
    [
      'a self-predecessor',
      [{ ...solver, predecessors: [0] }],
      /Unit 0 .* predecessor 0 is not an earlier unit/,
    ],
    ['a forward predecessor', [solver, { ...solver, predecessors: [2] }], /Unit 1 .* predecessor 2/],
    ['a negative predecessor', [solver, { ...solver, predecessors: [-1] }], /predecessor -1/],
    ['a fractional predecessor', [solver, { ...solver, predecessors: [0.5] }], /predecessor 0.5/],
    [
      'a predecessor that is no number',
      [solver, { ...solver, predecessors: [Number.NaN] }],
      /predecessor NaN/,
    ],
    [
      'a duplicate predecessor',
      [solver, solver, { ...solver, predecessors: [0, 1, 0] }],
      /Unit 2 .* 0 twice/,
    ],
    [
      'another realization',
      [{ ...solver, realization: 'crowd' as 'group' }],
      /'crowd' is neither atomic nor group/,
    ],
  ]
  test.each(cases)('%s', (_, units, message) => {
    expect(() => AgentGraph.of(units)).toThrow(InvalidGraphError)
    expect(() => AgentGraph.of(units)).toThrow(message)
  })
})
