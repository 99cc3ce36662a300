import { AgentGraph, type Unit } from '../graph/agent-graph.ts'
import { assertLegalGraph, type ConstructionSpace, type GraphLimits, whyIllegal } from '../graph/legality.ts'
import type { Library, Role } from '../library/library.ts'
import type { Realization } from '../library/role-space.ts'
import type { Task } from '../library/task.ts'
import { deriveRandom } from '../numerics/random.ts'
import { shuffled } from '../numerics/shuffled.ts'
import type { Organiser } from '../organisations/organisation.ts'
import { randomGraph } from '../policy/random-graph.ts'
import { Problem } from '../problem.ts'

/** The model alone with the question: the empty graph. */
export function directOrganisation(): Organiser {
  return fixedOrganisation('direct', 'The model alone with the question.', AgentGraph.empty)
}

/**
 * The roles in library order, each listening to the one before, as many as the limits allow. A role that cannot
 * listen to the one before it is skipped. Uses single agents; a role that only has a group uses its group.
 */
export function chainOrganisation(library: Library, { maxUnits, maxDepth }: GraphLimits): Organiser {
  const space: ConstructionSpace = { roles: library.space, restriction: 'mixed', maxUnits, maxDepth }
  let graph = AgentGraph.empty
  for (const role of library.roles) {
    const predecessors = graph.size === 0 ? [] : [graph.size - 1]
    const unit: Unit = { role: role.id, realization: simplest(role), predecessors }
    if (whyIllegal({ type: 'add', ...unit }, graph, space) === undefined) graph = graph.add(unit)
  }
  return fixedOrganisation('chain', `${listed(graph)}, each listening to the one before.`, graph)
}

/**
 * All roles in parallel, heard only by the finalizer. Uses single agents; a role that only has a group uses its
 * group. Legal for the library, but not bound by the limits of a policy, which it usually exceeds.
 */
export function parallelOrganisation(library: Library): Organiser {
  const graph = AgentGraph.of(
    library.roles.map((role) => ({ role: role.id, realization: simplest(role), predecessors: [] })),
  )
  const { size: maxUnits, depth: maxDepth } = graph
  assertLegalGraph(graph, { roles: library.space, restriction: 'mixed', maxUnits, maxDepth })
  return fixedOrganisation('parallel', `${listed(graph)}, side by side.`, graph)
}

/**
 * A random legal graph per task, determined by seed and task id. At every step all legal choices are equally likely:
 * a role or STOP, then a realization. Each legal predecessor is heard with probability one half.
 */
export function randomOrganisation(
  library: Library,
  { maxUnits, maxDepth }: GraphLimits,
  seed: number,
): Organiser {
  const space: ConstructionSpace = { roles: library.space, restriction: 'mixed', maxUnits, maxDepth }
  return {
    name: 'random',
    description: `A random legal graph of at most ${maxUnits} units for each question.`,
    graphFor: (task) => randomGraph(space, deriveRandom(seed, 'random-organisation', task.id)),
  }
}

/**
 * Gives each task the graph built for another one: if the score does not fall, the graphs are not specific to their
 * questions. All tasks form one cycle, determined by the seed, so that none keeps its own graph.
 */
export function shuffledOrganisation(
  { graphFor, ...base }: Organiser,
  tasks: readonly Task[],
  seed: number,
): Organiser {
  if (tasks.length < 2) throw new Problem('Shuffling graphs needs at least 2 questions: evaluate more.')
  const circle = shuffled(tasks, deriveRandom(seed, 'shuffled'))
  const others = new Map(circle.map((task, place) => [task.id, circle[(place + 1) % circle.length]!]))
  return {
    name: `${base.name}, shuffled`,
    description: `${base.description} Each question gets the graph of another one.`,
    graphFor: (task) => graphFor(others.get(task.id)!),
  }
}

/** The same graph for every task. */
export function fixedOrganisation(name: string, description: string, graph: AgentGraph): Organiser {
  return { name, description, graphFor: () => graph }
}

function simplest({ atomic }: Role): Realization {
  return atomic === undefined ? 'group' : 'atomic'
}

function listed(graph: AgentGraph): string {
  return graph.size === 0 ? 'No role' : graph.units.map(({ role }) => role).join(', ')
}
