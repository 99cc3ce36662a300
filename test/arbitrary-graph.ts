import fc from 'fast-check'
import { AgentGraph, type Unit } from '../src/graph/agent-graph.ts'
import type { ConstructionSpace } from '../src/graph/legality.ts'
import { legalityMasks } from '../src/graph/legality.ts'
import { defineRoleSpace, realizations } from '../src/library/role-space.ts'

interface GraphShape {
  readonly maxUnits: number
  readonly roles?: readonly string[]
}

/** Any well-formed graph, legal in a library or not. Few roles by default, so that equal units are common. */
export function arbitraryGraph({ maxUnits, roles = ['a', 'b'] }: GraphShape): fc.Arbitrary<AgentGraph> {
  const unit = fc.record({
    role: fc.constantFrom(...roles),
    realization: fc.constantFrom(...realizations),
    listens: fc.array(fc.boolean(), { minLength: maxUnits, maxLength: maxUnits }),
  })
  return fc.array(unit, { maxLength: maxUnits }).map((units) =>
    AgentGraph.of(
      units.map(({ role, realization, listens }, position): Unit => {
        const earlier = Array.from({ length: position }, (_, index) => index)
        return { role, realization, predecessors: earlier.filter((index) => listens[index]) }
      }),
    ),
  )
}

/** A random order of the units that keeps predecessors before successors. */
export function arbitraryBuildOrder(graph: AgentGraph): fc.Arbitrary<number[]> {
  const ranks = fc.array(fc.nat(), { minLength: graph.size, maxLength: graph.size })
  return ranks.map((rank) => {
    const order: number[] = []
    while (order.length < graph.size) {
      const ready = [...graph.units.keys()].filter(
        (unit) => !order.includes(unit) && graph.units[unit]!.predecessors.every((p) => order.includes(p)),
      )
      order.push(ready.reduce((first, unit) => (rank[unit]! < rank[first]! ? unit : first)))
    }
    return order
  })
}

/** Any library's role space with any limits and restriction; every role has at least one realization. */
export const arbitrarySpace: fc.Arbitrary<ConstructionSpace> = fc
  .integer({ min: 1, max: 4 })
  .chain((size) =>
    fc.record({
      kinds: fc.array(fc.constantFrom('atomic', 'group', 'both'), { minLength: size, maxLength: size }),
      fits: fc.array(fc.boolean(), { minLength: size * size, maxLength: size * size }),
      maxUnits: fc.integer({ min: 0, max: 5 }),
      maxDepth: fc.integer({ min: 0, max: 6 }),
      restriction: fc.constantFrom('mixed' as const, 'all-atomic' as const, 'all-group' as const),
    }),
  )
  .map(({ kinds, fits, maxUnits, maxDepth, restriction }) => ({
    roles: defineRoleSpace(
      kinds.map((kind, index) => ({
        id: `role-${index}`,
        atomic: kind !== 'group',
        group: kind !== 'atomic',
      })),
      (from, to) => fits[from * kinds.length + to]!,
    ),
    maxUnits,
    maxDepth,
    restriction,
  }))

/** A space and a graph grown in it by random legal actions. */
export const arbitraryConstruction: fc.Arbitrary<{ space: ConstructionSpace; graph: AgentGraph }> =
  arbitrarySpace.chain((space) =>
    fc
      .array(
        fc.record({ branch: fc.nat(), listens: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }) }),
        {
          maxLength: 5,
        },
      )
      .map((steps) => ({
        space,
        graph: steps.reduce((graph, step) => grow(graph, space, step), AgentGraph.empty),
      })),
  )

function grow(
  graph: AgentGraph,
  space: ConstructionSpace,
  { branch, listens }: { branch: number; listens: boolean[] },
): AgentGraph {
  const masks = legalityMasks(graph, space)
  const branches = [...masks.realizations.keys()].filter((index) => masks.realizations[index])
  if (branches.length === 0) return graph
  const chosen = branches[branch % branches.length]!
  return graph.add({
    role: space.roles.roles[Math.floor(chosen / 2)]!.id,
    realization: realizations[chosen % 2]!,
    predecessors: [...graph.units.keys()].filter(
      (unit) => listens[unit] && masks.edges[chosen * graph.size + unit],
    ),
  })
}
