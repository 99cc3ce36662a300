import { AgentGraph, type Unit } from '../../graph/agent-graph.ts'
import type { Library } from '../../library/library.ts'
import type { Agent } from './agents.ts'

/** MasRouter's modes, in its order. */
export const modes = [
  { name: 'IO', text: 'Each agent answers on its own, directly.' },
  { name: 'CoT', text: 'Each agent answers on its own, step by step.' },
  { name: 'Chain', text: 'Agents work one after the other, each on what the one before has passed on.' },
  { name: 'FullConnected', text: 'Agents work together, each hearing all that come before it.' },
  { name: 'Debate', text: 'Agents answer, hear what all of them have said, and answer again.' },
  { name: 'Reflection', text: 'Agents answer, look at their own answers again, and revise them.' },
] as const

export type ModeName = (typeof modes)[number]['name']

/** The graph of a mode. The decision hears the second round if there is one, otherwise all agents. */
export function modeGraph(
  mode: ModeName,
  agents: readonly (Agent & Pick<Unit, 'model'>)[],
  { space }: Library,
): AgentGraph {
  const heard = (from: number, to: number) => space.compatible(agents[from]!.role, agents[to]!.role)
  const unit = (agent: number, predecessors: readonly number[]): Unit => {
    const { id: role, realization, model } = agents[agent]!
    return { role, realization, predecessors, agent, ...(model !== undefined && { model }) }
  }
  const places = [...agents.keys()]
  const second = mode === 'Debate' || mode === 'Reflection'
  const before = (agent: number) => {
    if (second || mode === 'IO' || mode === 'CoT') return []
    const earlier = mode === 'Chain' ? [agent - 1] : places.slice(0, agent)
    return earlier.filter((from) => from >= 0 && heard(from, agent))
  }
  const first = places.map((agent) => unit(agent, before(agent)))
  if (!second) return AgentGraph.of(first, 'summarizer-of-all')
  const again = places.map((agent) =>
    unit(
      agent,
      places.filter((from) => from === agent || (mode === 'Debate' && heard(from, agent))),
    ),
  )
  return AgentGraph.of([...first, ...again])
}
