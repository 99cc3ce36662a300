import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryConstruction, arbitraryGraph, arbitrarySpace } from '../../test/arbitrary-graph.ts'
import { defineRoleSpace, realizations, UnknownRoleError } from '../library/role-space.ts'
import { AgentGraph, type Unit } from './agent-graph.ts'
import {
  type Action,
  apply,
  assertLegalGraph,
  type ConstructionSpace,
  IllegalActionError,
  legalityMasks,
  whyIllegal,
} from './legality.ts'

describe('masks against the rules, checked by brute force on the resulting graph', () => {
  test('an addition is allowed exactly when the resulting graph breaks no rule', () => {
    fc.assert(
      fc.property(arbitraryConstruction, ({ space, graph }) => {
        const masks = legalityMasks(graph, space)
        expect(brokenRules(graph.units, space)).toEqual([])
        for (const unit of allAdditions(graph, space)) {
          const branch = space.roles.indexOf(unit.role) * 2 + realizations.indexOf(unit.realization)
          const allowed =
            masks.realizations[branch] === 1 &&
            unit.predecessors.every((predecessor) => masks.edges[branch * graph.size + predecessor] === 1)
          const broken = brokenRules([...graph.units, unit], space)
          expect({ unit, allowed }).toEqual({ unit, allowed: broken.length === 0 })
          expectActionJudged({ type: 'add', ...unit }, graph, space, allowed)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('a role is legal exactly when one of its realizations is, and STOP always is', () => {
    fc.assert(
      fc.property(arbitraryConstruction, ({ space, graph }) => {
        const masks = legalityMasks(graph, space)
        const count = space.roles.roles.length
        for (let role = 0; role < count; role += 1) {
          const either = masks.realizations[role * 2] === 1 || masks.realizations[role * 2 + 1] === 1
          expect(masks.roles[role] === 1).toBe(either)
        }
        expect(masks.roles.length).toBe(count + 1)
        expect(masks.roles[count]).toBe(1)
        expect(whyIllegal({ type: 'stop' }, graph, space)).toBeUndefined()
      }),
    )
  })

  test('a legal edge belongs to a legal realization', () => {
    fc.assert(
      fc.property(arbitraryConstruction, ({ space, graph }) => {
        const masks = legalityMasks(graph, space)
        expect(masks.edges.length).toBe(masks.realizations.length * graph.size)
        for (const [index, edge] of masks.edges.entries()) {
          expect(edge).toBeLessThanOrEqual(masks.realizations[Math.floor(index / graph.size)]!)
        }
      }),
    )
  })

  test('only STOP is legal once all units are placed', () => {
    fc.assert(
      fc.property(arbitraryConstruction, ({ space, graph }) => {
        const masks = legalityMasks(graph, { ...space, maxUnits: graph.size })
        expect([...masks.roles]).toEqual([...space.roles.roles.map(() => 0), 1])
        expect(masks.realizations.every((entry) => entry === 0)).toBe(true)
        expect(masks.edges.every((entry) => entry === 0)).toBe(true)
      }),
    )
  })
})

describe('whole graphs', () => {
  test('a graph passes exactly when it breaks no rule', () => {
    const roles = ['role-0', 'role-1']
    const anyGraph = arbitraryGraph({ maxUnits: 4, roles })
    const spaceOfTwo = arbitrarySpace.filter((space) => space.roles.roles.length >= 2)
    fc.assert(
      fc.property(anyGraph, spaceOfTwo, (graph, space) => {
        const broken = brokenRules(graph.units, space)
        if (broken.length === 0) expect(() => assertLegalGraph(graph, space)).not.toThrow()
        else expect(() => assertLegalGraph(graph, space)).toThrow(IllegalActionError)
      }),
      { numRuns: 500 },
    )
  })

  test('every graph grown within the masks passes', () => {
    fc.assert(
      fc.property(arbitraryConstruction, ({ space, graph }) => {
        expect(() => assertLegalGraph(graph, space)).not.toThrow()
      }),
    )
  })

  test('a graph above the unit limit has no masks', () => {
    const two = AgentGraph.of([atomic([]), atomic([])])
    expect(() => legalityMasks(two, spaceOf({ maxUnits: 1, maxDepth: 1 }))).toThrow(
      /2 units exceeds the limit of 1/,
    )
  })

  test('a unit that is too deep can have no successor, and the whole graph is refused', () => {
    const space = spaceOf({ maxUnits: 3, maxDepth: 1 })
    const deep = AgentGraph.of([{ ...atomic([]), realization: 'group' }])
    expect([...legalityMasks(deep, space).edges]).toEqual([0, 0, 0, 0])
    expect(() => assertLegalGraph(deep, space)).toThrow(IllegalActionError)
  })
})

describe('actions outside the masks', () => {
  const space = spaceOf({ maxUnits: 3, maxDepth: 4 })
  const graph = AgentGraph.of([atomic([]), atomic([])])
  const cases: [string, Unit, RegExp][] = [
    ['duplicate predecessor', atomic([0, 0]), /predecessor 0 is listed twice/],
    ['predecessor that does not exist', atomic([2]), /predecessor 2 is not an existing unit/],
    ['negative predecessor', atomic([-1]), /predecessor -1 is not an existing unit/],
    ['fractional predecessor', atomic([0.5]), /predecessor 0.5 is not an existing unit/],
    // Its index is -1, which must not reach into the previous role's masks.
    [
      'no such realization',
      { ...atomic([]), role: 'b', realization: 'crowd' as 'group' },
      /'crowd' is neither/,
    ],
  ]
  test.each(cases)('%s', (_, unit, message) => {
    expect(whyIllegal({ type: 'add', ...unit }, graph, space)).toMatch(message)
    expect(() => apply({ type: 'add', ...unit }, graph, space)).toThrow(IllegalActionError)
  })

  test('an unknown role', () => {
    const action = { type: 'add' as const, ...atomic([]), role: 'stranger' }
    expect(() => apply(action, graph, space)).toThrow(UnknownRoleError)
    expect(() => apply(action, graph, space)).toThrow(/no role 'stranger'. It has: a, b/)
  })
})

function expectActionJudged(
  action: Action & { type: 'add' },
  graph: AgentGraph,
  space: ConstructionSpace,
  allowed: boolean,
): void {
  const reason = whyIllegal(action, graph, space)
  if (allowed) {
    expect(reason).toBeUndefined()
    expect(apply(action, graph, space)).toEqual(graph.add(action))
  } else {
    expect(reason).toBeTypeOf('string')
    expect(() => apply(action, graph, space)).toThrow(IllegalActionError)
  }
}

function allAdditions(graph: AgentGraph, space: ConstructionSpace): Unit[] {
  return space.roles.roles.flatMap(({ id: role }) =>
    realizations.flatMap((realization) =>
      Array.from({ length: 1 << graph.size }, (_, chosen) => ({
        role,
        realization,
        predecessors: [...graph.units.keys()].filter((unit) => (chosen >> unit) & 1),
      })),
    ),
  )
}

/** The rules of spec and paper on the whole graph, without any code under test. */
function brokenRules(units: readonly Unit[], space: ConstructionSpace): string[] {
  const broken: string[] = []
  if (units.length > space.maxUnits) broken.push('too many units')
  const positionOf = (role: string) => space.roles.roles.findIndex(({ id }) => id === role)
  for (const unit of units) {
    const shape = space.roles.roles[positionOf(unit.role)]!
    if (unit.realization === 'atomic' ? !shape.atomic : !shape.group)
      broken.push('realization not in library')
    if (space.restriction === 'all-atomic' && unit.realization === 'group') broken.push('restriction')
    if (space.restriction === 'all-group' && unit.realization === 'atomic') broken.push('restriction')
    for (const predecessor of unit.predecessors) {
      const from = units[predecessor]!.role
      if (!space.roles.compatible(positionOf(from), positionOf(unit.role)))
        broken.push('output does not fit input')
    }
  }
  // Every path through the units, counting a group as worker plus aggregator.
  const walk = (position: number, length: number): void => {
    const reached = length + (units[position]!.realization === 'group' ? 2 : 1)
    if (reached > space.maxDepth) broken.push('too deep')
    for (const [later, unit] of units.entries())
      if (unit.predecessors.includes(position)) walk(later, reached)
  }
  for (const position of units.keys()) walk(position, 0)
  return broken
}

function spaceOf(limits: { maxUnits: number; maxDepth: number }): ConstructionSpace {
  const roles = defineRoleSpace(['a', 'b'].map((id) => ({ id, atomic: true, group: true })))
  return { roles, restriction: 'mixed', ...limits }
}

function atomic(predecessors: number[]): Unit {
  return { role: 'a', realization: 'atomic', predecessors }
}
