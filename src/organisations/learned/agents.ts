import { taskEmbedding } from '../../encoder/query-embedding.ts'
import type { FrozenTextEncoder } from '../../encoder/text-encoder.ts'
import { AgentGraph, type Finalizer, type Unit } from '../../graph/agent-graph.ts'
import type { Library } from '../../library/library.ts'
import type { Realization } from '../../library/role-space.ts'
import type { Task } from '../../library/task.ts'
import { type AgentCount, usualAgents } from '../agents.ts'
import type { LearnerMeans } from '../organisation.ts'

/** One of a fixed list of agents: a role of the library. */
export interface Agent {
  /** Position in the library. */
  readonly role: number
  readonly id: string
  readonly realization: Realization
}

/** The library's roles in order as agents, repeated if there are too few. */
export function agentsOf(
  { library: { roles }, profile }: Pick<LearnerMeans, 'library' | 'profile'>,
  count: AgentCount,
): Agent[] {
  const length = count === 'usual' ? usualAgents({ profile }) : count
  return Array.from({ length }, (_, place) => agentOf(roles, place % roles.length))
}

export function agentOf(roles: Library['roles'], role: number): Agent {
  const { id, atomic } = roles[role]!
  return { role, id, realization: atomic === undefined ? 'group' : 'atomic' }
}

/** The vectors of the roles' descriptions. */
export function roleVectors({ texts }: Library, encoder: FrozenTextEncoder): Promise<Float32Array[]> {
  return encoder.encode(texts.map(({ role, atomic, group }) => [role, atomic ?? group ?? ''].join('\n')))
}

/** The vector of a question with its options and public context. */
export function questionVector(task: Task, encoder: FrozenTextEncoder): Promise<Float32Array> {
  return taskEmbedding(readFieldsOf(task), encoder)
}

export function readFieldsOf({ question, options, context = [], tables = [] }: Task) {
  const cells = tables.map(({ name, header = [], rows }) =>
    [name, header.join(' '), ...rows.map((row) => row.join(' '))].join('\n'),
  )
  return {
    question,
    options: options?.map(({ label, text }) => `${label}. ${text}`),
    context: [...context, ...cells].join('\n\n'),
  }
}

/** An edge between agents, by position in the list. */
export type Edge = readonly [from: number, to: number]

/** All ordered pairs with matching types, row by row. */
export function legalPairs(agents: readonly Agent[], { space }: Library): Edge[] {
  return agents.flatMap((from, i) =>
    agents.flatMap((to, j): Edge[] => (i !== j && space.compatible(from.role, to.role) ? [[i, j]] : [])),
  )
}

/** The pairs that were decided, and how. */
export interface DrawnEdges {
  readonly tried: readonly number[]
  readonly chosen: readonly boolean[]
  readonly edges: readonly Edge[]
}

export interface DrawnGraph extends DrawnEdges {
  readonly graph: AgentGraph
}

/** Visits the pairs in order. Skips those that would close a cycle; `take` decides the others. */
export function drawEdges(pairs: readonly Edge[], take: (pair: number) => boolean): DrawnEdges {
  const tried: number[] = []
  const chosen: boolean[] = []
  const edges: Edge[] = []
  for (const [pair, edge] of pairs.entries()) {
    if (reaches(edges, edge[1], edge[0])) continue
    tried.push(pair)
    chosen.push(take(pair))
    if (chosen.at(-1)!) edges.push(edge)
  }
  return { tried, chosen, edges }
}

function reaches(edges: readonly Edge[], from: number, to: number): boolean {
  const seen = new Set([from])
  for (const place of seen) for (const [a, b] of edges) if (a === place) seen.add(b)
  return seen.has(to)
}

/**
 * The graph of agents that hear each other along these edges, in one or several rounds. In later rounds each also hears its
 * own reply from the previous one.
 */
export function graphOf(
  agents: readonly Agent[],
  edges: readonly Edge[],
  finalizer: Finalizer,
  rounds = 1,
): AgentGraph {
  const order = topological(agents.length, edges)
  const isMarked = rounds > 1 || new Set(agents.map(({ id }) => id)).size < agents.length
  const units: Unit[] = []
  const placeOf = new Map<string, number>()
  for (let round = 0; round < rounds; round += 1)
    for (const agent of order) {
      const { id: role, realization } = agents[agent]!
      const heard = edges.filter(([, to]) => to === agent).map(([from]) => placeOf.get(`${from} ${round}`)!)
      const own = placeOf.get(`${agent} ${round - 1}`)
      const predecessors = own === undefined ? heard : [own, ...heard]
      placeOf.set(`${agent} ${round}`, units.length)
      units.push({ role, realization, predecessors, ...(isMarked && { agent }) })
    }
  return AgentGraph.of(units, finalizer)
}

/** Topological order; ties go to the smallest number. */
function topological(count: number, edges: readonly Edge[]): number[] {
  const left = new Set(Array.from({ length: count }, (_, place) => place))
  const order: number[] = []
  while (left.size > 0) {
    const next = [...left].find((place) => !edges.some(([from, to]) => to === place && left.has(from)))!
    left.delete(next)
    order.push(next)
  }
  return order
}
