import { z } from 'zod'
import { AgentGraph, type Finalizer, type Unit, type UnitMarks } from '../graph/agent-graph.ts'
import type { Library } from '../library/library.ts'
import type { Task } from '../library/task.ts'
import type { OrganisationMeans } from './organisation.ts'

/** An agent without its predecessors. */
export type Member = Pick<Unit, 'role'> & UnitMarks

/**
 * What makes otherwise equal agents differ, since at temperature 0 equal requests get equal replies: a number in the request
 * (`nonce`), different roles, or a temperature above 0.
 */
export const diversity = z
  .enum(['nonce', 'roles', 'temperature'])
  .describe(
    'what makes the agents differ: a number in their requests, roles of the library, or temperature 0.7',
  )

export type Diversity = z.output<typeof diversity>

const diverseTemperature = 0.7

/** Agents numbered from 1: equal solvers, or the library's roles in order, repeated if there are too few. */
export function membersOf(library: Library, count: number, how: Diversity): Member[] {
  return Array.from({ length: count }, (_, place) => {
    const agent = place + 1
    if (how === 'roles') return { role: atomicRoles(library)[place % atomicRoles(library).length]!, agent }
    return how === 'nonce'
      ? { role: 'solver', agent }
      : { role: 'solver', agent, temperature: diverseTemperature }
  })
}

/** Roles that a single agent can play, in library order. */
export function atomicRoles(library: Library): string[] {
  return library.roles.filter(({ atomic }) => atomic !== undefined).map(({ id }) => id)
}

/** Agents over several rounds. Each hears itself and its neighbours from the previous round, and nobody from its own. */
export function unrolled(
  members: readonly Member[],
  rounds: number,
  hears: (member: number, other: number) => boolean,
  finalizer: Finalizer = 'vote',
): AgentGraph {
  const units: Unit[] = []
  for (let round = 0; round < rounds; round += 1)
    for (const [place, member] of members.entries()) {
      const before = (round - 1) * members.length
      const heard = [...members.keys()].filter((other) => other === place || hears(place, other))
      const predecessors = round === 0 ? [] : heard.map((other) => before + other)
      units.push({ ...member, realization: 'atomic', predecessors })
    }
  return AgentGraph.of(units, finalizer)
}

const codeProfiles = ['humaneval', 'livecodebench']
const knowledgeProfiles = ['mmlu_pro', 'strategyqa']

/** The number of agents in G-Designer's code: 4, but 5 for programs and 6 for knowledge and common sense. */
export function usualAgents({ profile }: Pick<OrganisationMeans, 'profile'>, task?: Task): number {
  if (codeProfiles.includes(profile.id) || task?.program !== undefined) return 5
  return knowledgeProfiles.includes(profile.id) ? 6 : 4
}

/** A number of agents, or the usual number for the kind of question. */
export const agentCount = z.union([z.literal('usual'), z.int().min(1).max(64)])

export type AgentCount = z.output<typeof agentCount>
