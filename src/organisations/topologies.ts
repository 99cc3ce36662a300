import { z } from 'zod'
import { AgentGraph, type Finalizer, type Unit } from '../graph/agent-graph.ts'
import type { Library } from '../library/library.ts'
import type { Task } from '../library/task.ts'
import { deriveRandom } from '../numerics/random.ts'
import { agentCount, usualAgents } from './agents.ts'
import { defineOrganisation, type OrganisationDefinition, type Organiser } from './organisation.ts'

export const topologyNames = ['Chain', 'Complete', 'Random', 'Tree'] as const

type TopologyName = (typeof topologyNames)[number]

interface Topology extends Organiser {
  /** Number of edges left out because types do not match. For `Random`, of its densest possible graph. */
  readonly leftOut: number
}

/**
 * The fixed graphs of Q4: n units with the roles in library order, repeated if there are too few. They deliberately exceed a
 * policy's limits. Units are atomic, except for roles that only have a group.
 */
export function topology(
  name: TopologyName,
  library: Library,
  units: number,
  seed: number,
  finalizer: Finalizer = 'summarizer',
): Topology {
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
      finalizer,
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
    // In heap order, the root is 0 and hears 1 and 2; it is built last.
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

const options = z.object({
  units: agentCount
    .default('usual')
    .describe('number of units; default: 4, for programs 5, for knowledge and common sense 6'),
  finalizer: z
    .enum(['summarizer', 'summarizer-of-all'])
    .default('summarizer')
    .describe('who the summarizer hears: the sinks, or all units as in G-Designer'),
})

const sentences = {
  Chain: 'Role agents in a row, each hearing the one before.',
  Complete: 'Role agents in order, each hearing all before it.',
  Random:
    'Role agents in order, each hearing each one before it with probability one half, drawn per question.',
  Tree: 'Role agents as a binary tree; two are heard by one above them, the root speaks last.',
}

/** The fixed topologies of the efficiency figure. */
export const topologies: readonly OrganisationDefinition[] = topologyNames.map((name) =>
  defineOrganisation({
    name: `${name.toLowerCase()}-topology`,
    category: 'topology',
    description: sentences[name],
    fidelity: 'adaptation',
    source: "The paper's figure of scores and tokens; templates of G-Designer's `get_kwargs`.",
    differences: [
      'Sizes and rules are ours: the paper gives neither.',
      'Edges with mismatched types are left out; `leftOut` is their number.',
    ],
    options,
    organise(means, { units, finalizer }) {
      const { library, seed } = means
      const made = new Map<number, Topology>()
      const ofSize = (size: number) => {
        const known = made.get(size) ?? topology(name, library, size, seed, finalizer)
        made.set(size, known)
        return known
      }
      const sizeFor = (task?: Task) => (units === 'usual' ? usualAgents(means, task) : units)
      const facts = { leftOut: ofSize(sizeFor()).leftOut }
      return { graphFor: (task) => ofSize(sizeFor(task)).graphFor(task), facts }
    },
  }),
)
