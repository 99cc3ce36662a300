import { AgentGraph, type Unit } from '../graph/agent-graph.ts'
import type { Library } from '../library/library.ts'
import { deriveRandom } from '../numerics/random.ts'
import type { Organiser } from '../organisations/organisation.ts'

export const topologyNames = ['Chain', 'Complete', 'Random', 'Tree'] as const

type TopologyName = (typeof topologyNames)[number]

interface Topology extends Organiser {
  /** Edges that the library's types forbid, left out. For `Random`, of the densest graph that it can draw. */
  readonly leftOut: number
}

/**
 * The fixed graphs of Q4: n units of the roles in library order, cycling where there are fewer. They exceed a policy's limits on
 * purpose. Units are atomic; a role that has only a group stands as that.
 */
export function topology(name: TopologyName, library: Library, units: number, seed: number): Topology {
  const roles = Array.from({ length: units }, (_, unit) => library.roles[unit % library.roles.length]!)
  const fits = (from: number, to: number) =>
    library.space.compatible(library.space.indexOf(roles[from]!.id), library.space.indexOf(roles[to]!.id))
  let leftOut = 0
  const graphOf = (hears: (unit: number, earlier: number) => boolean): AgentGraph => {
    leftOut = 0
    return AgentGraph.of(
      roles.map(({ id, atomic }, unit): Unit => {
        const wanted = [...Array(unit).keys()].filter((earlier) => hears(unit, earlier))
        const legal = wanted.filter((earlier) => fits(earlier, unit))
        leftOut += wanted.length - legal.length
        return { role: id, realization: atomic === undefined ? 'group' : 'atomic', predecessors: legal }
      }),
    )
  }
  const about = (graph: AgentGraph, description: string): Topology => ({
    name,
    description,
    leftOut,
    graphFor: () => graph,
  })
  if (name === 'Chain') {
    const graph = graphOf((unit, earlier) => earlier === unit - 1)
    return about(graph, `${units} units, each listening to the one before.`)
  }
  if (name === 'Complete') {
    const graph = graphOf(() => true)
    return about(graph, `${units} units, each listening to all before.`)
  }
  if (name === 'Tree') {
    // In heap order the root is 0 and hears 1 and 2; it is built last.
    const heap = (unit: number) => units - 1 - unit
    const graph = graphOf((unit, earlier) => Math.floor((heap(earlier) - 1) / 2) === heap(unit))
    return about(graph, `${units} units as a binary tree, the root last.`)
  }
  graphOf(() => true)
  return {
    ...about(
      AgentGraph.empty,
      `${units} units, each listening to each one before with probability one half.`,
    ),
    graphFor({ id }) {
      const random = deriveRandom(seed, 'random-topology', id)
      return graphOf(() => random.uniform() < 0.5)
    },
  }
}
