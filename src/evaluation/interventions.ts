// Disturbs an organisation on purpose, to measure how much its answers depend on it. Everything is determined by seed
// and question.
import type { Disturbance } from '../execution/disturbance.ts'
import { AgentGraph, type Unit } from '../graph/agent-graph.ts'
import { deriveRandom, type Random } from '../numerics/random.ts'
import type { NamedOrganisation } from '../organisations/open-organisation.ts'
import { isDriver, type Organisation } from '../organisations/organisation.ts'
import { Problem } from '../problem.ts'

export interface Interventions {
  /** Swap edges at random; every unit keeps its number of incoming and outgoing edges. */
  readonly rewire?: boolean
  /** Remove units of this role with their edges. In a driving organisation, its agents fail. */
  readonly dropRole?: string
  /** The probability that a message arrives garbled, with another answer. */
  readonly corruptMessage?: number
  /** The probability that an agent fails without being called. */
  readonly failWorker?: number
}

/** The organisation with these interventions applied, and a name that says so. */
export function disturbed(
  { organisation, about }: NamedOrganisation,
  interventions: Interventions,
  seed: number,
): NamedOrganisation & { readonly disturbance?: Disturbance } {
  const { rewire, dropRole, corruptMessage, failWorker } = interventions
  const words = [
    rewire === true && 'rewired',
    dropRole !== undefined && `without ${dropRole}`,
    corruptMessage !== undefined && `${corruptMessage} of messages corrupted`,
    failWorker !== undefined && `${failWorker} of workers failing`,
  ].filter((word) => word !== false)
  if (words.length === 0) return { organisation, about }
  const name = `${organisation.name}, ${words.join(', ')}`
  const told = Object.fromEntries(
    Object.entries(interventions)
      .filter(([, value]) => value !== undefined && value !== false)
      .map(([intervention, value]) => [intervention, typeof value === 'boolean' ? 1 : value]),
  )
  return {
    organisation: { ...rebuilt(organisation, interventions, seed), name },
    about: { ...about, ...told, interventionSeed: seed },
    disturbance: {
      seed,
      ...(dropRole !== undefined && { dropRole }),
      ...(corruptMessage !== undefined && { corruptMessage }),
      ...(failWorker !== undefined && { failWorker }),
    },
  }
}

function rebuilt(
  organisation: Organisation,
  { rewire, dropRole }: Interventions,
  seed: number,
): Organisation {
  if (isDriver(organisation)) {
    if (rewire === true)
      throw new Problem(
        `'${organisation.name}' decides step by step whom to ask, so it has no edges to rewire. Leave it out, or use another intervention.`,
      )
    return organisation
  }
  return {
    ...organisation,
    async graphFor(task) {
      let graph = await organisation.graphFor(task)
      if (dropRole !== undefined) graph = withoutRole(graph, dropRole)
      return rewire === true ? rewired(graph, deriveRandom(seed, 'rewire', task.id)) : graph
    },
  }
}

/** No bridging: units that heard only this role now hear nobody. */
export function withoutRole(graph: AgentGraph, role: string): AgentGraph {
  const kept = graph.units.flatMap((unit, position) => (unit.role === role ? [] : [position]))
  const units = kept.map((position): Unit => {
    const { predecessors, ...unit } = graph.units[position]!
    return {
      ...unit,
      predecessors: predecessors.filter((one) => kept.includes(one)).map((one) => kept.indexOf(one)),
    }
  })
  return AgentGraph.of(units, graph.finalizer)
}

/** Swaps the targets of random pairs of edges, unless that would make a cycle or a double edge. */
export function rewired(graph: AgentGraph, random: Random): AgentGraph {
  const edges = graph.units.flatMap(({ predecessors }, to) =>
    predecessors.map((from): [number, number] => [from, to]),
  )
  const has = (from: number, to: number) => edges.some(([a, b]) => a === from && b === to)
  for (let attempt = 0; attempt < 10 * edges.length; attempt += 1) {
    const one = edges[Math.floor(random.uniform() * edges.length)]!
    const other = edges[Math.floor(random.uniform() * edges.length)]!
    const [[a, b], [c, d]] = [one, other]
    // Units are in topological order, so edges must point forward.
    if (b === d || a === c || a >= d || c >= b || has(a, d) || has(c, b)) continue
    one[1] = d
    other[1] = b
  }
  const units = graph.units.map((unit, position): Unit => {
    const predecessors = edges.filter(([, to]) => to === position).map(([from]) => from)
    return { ...unit, predecessors }
  })
  return AgentGraph.of(units, graph.finalizer)
}
