import fc from 'fast-check'
import type { AgentGraph } from '../src/graph/agent-graph.ts'
import { type Action, type ConstructionSpace, legalityMasks } from '../src/graph/legality.ts'
import { defineRoleSpace, realizations } from '../src/library/role-space.ts'
import { type PlainParameters, parameterShapes } from '../src/policy/parameter-shapes.ts'
import { ConstructionPolicy } from '../src/policy/policy.ts'
import type { PlainNetworkOptions } from '../src/policy/reference/network.ts'
import { arbitraryConstruction } from './arbitrary-graph.ts'

/** Roles of every kind, not all of which may listen to each other. */
export const threeRoles = defineRoleSpace(
  [
    { id: 'both', atomic: true, group: true },
    { id: 'alone', atomic: true, group: false },
    { id: 'grouped', atomic: false, group: true },
  ],
  (from, to) => from >= to,
)

/** Small dimensions and embeddings for any role space. */
export function tinyOptions({ roles, maxUnits, maxDepth }: ConstructionSpace, seed = 1): PlainNetworkOptions {
  const semantic = 3
  const vector = (salt: number) => numbersLike(semantic, seed * 100 + salt, 1)
  return {
    dimensions: { semantic, hidden: 4, maxUnits, maxDepth },
    roles,
    embeddings: roles.roles.map(({ atomic, group }, index) => ({
      role: vector(3 * index),
      atomic: atomic ? vector(3 * index + 1) : null,
      group: group ? vector(3 * index + 2) : null,
    })),
    dropoutRate: 0.1,
  }
}

/** The equivalent of a gain, with the vectors multiplied beforehand. */
export function multiplied(options: PlainNetworkOptions, gain: number): PlainNetworkOptions {
  const times = <V extends ArrayLike<number> | null>(vector: V) =>
    vector === null ? null : Float64Array.from(vector, (entry) => entry * gain)
  const embeddings = options.embeddings.map(({ role, atomic, group }) => ({
    role: times(role)!,
    atomic: times(atomic),
    group: times(group),
  }))
  return { ...options, embeddings }
}

/** Pseudo-random weights that are always the same; a large spread saturates every distribution. */
export function tinyParameters({ dimensions }: PlainNetworkOptions, seed = 1, spread = 1): PlainParameters {
  return new Map(
    [...parameterShapes(dimensions)].map(([name, shape], index) => {
      const size = shape.reduce((product, extent) => product * extent, 1)
      return [name, { shape, data: numbersLike(size, seed * 1000 + index, spread) }]
    }),
  )
}

/** The real policy with the options and weights of the plain one. */
export function tinyPolicy(
  options: PlainNetworkOptions,
  parameters: PlainParameters = tinyParameters(options),
): ConstructionPolicy {
  return new ConstructionPolicy({ ...options, vectors: options.embeddings }, parameters)
}

export interface Situation {
  readonly space: ConstructionSpace
  readonly graph: AgentGraph
  readonly options: PlainNetworkOptions
  /** For the weights. */
  readonly seed: number
}

/** A space with room for units, a graph grown in it, and policy options for it. */
export const arbitrarySituation: fc.Arbitrary<Situation> = arbitraryConstruction
  .filter(({ space }) => space.maxUnits > 0)
  .chain(({ space, graph }) =>
    fc.record({
      space: fc.constant(space),
      graph: fc.constant(graph),
      options: fc.constant(tinyOptions(space)),
      seed: fc.integer({ min: 1, max: 1000 }),
    }),
  )

/** All legal next actions. */
export function legalActions(graph: AgentGraph, space: ConstructionSpace): Action[] {
  const masks = legalityMasks(graph, space)
  const actions: Action[] = [{ type: 'stop' }]
  for (const [index, { id }] of space.roles.roles.entries()) {
    for (const [z, realization] of realizations.entries()) {
      const branch = index * 2 + z
      if (!masks.realizations[branch]) continue
      const legal = [...graph.units.keys()].filter((unit) => masks.edges[branch * graph.size + unit])
      for (const predecessors of subsetsOf(legal)) {
        actions.push({ type: 'add', role: id, realization, predecessors })
      }
    }
  }
  return actions
}

function subsetsOf(units: readonly number[]): number[][] {
  const subsets: number[][] = [[]]
  for (const unit of units) subsets.push(...subsets.map((subset) => [...subset, unit]))
  return subsets
}

export function numbersLike(length: number, seed: number, spread: number): Float64Array {
  return Float64Array.from({ length }, (_, index) => spread * Math.sin(seed * 78.233 + index * 12.9898))
}
