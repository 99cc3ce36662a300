import { planOf } from '../../src/execution/plan.ts'
import { emptyToolbox } from '../../src/execution/toolbox.ts'
import { AgentGraph } from '../../src/graph/agent-graph.ts'
import { paperLibrary } from '../../src/library/paper-library/paper-library.ts'

/** A graph as the server reports it in `magic.graph`. */
export interface GivenGraph {
  readonly units: readonly object[]
}

/** A model call as the model endpoint saw it. */
export interface ServedCall {
  readonly label: string
  /** From the arrival of the request until just before its reply is sent. */
  readonly ms: number
}

export interface ExpectedCall {
  readonly label: string
  readonly predecessors: readonly number[]
}

/** The calls a graph makes if no reply needs repair; the finalizer's is last. */
export function callsOf({ units }: GivenGraph): ExpectedCall[] {
  const graph = AgentGraph.of(units as Parameters<typeof AgentGraph.of>[0])
  const { nodes } = planOf(graph, { library: paperLibrary, profile: { tools: [] }, tools: emptyToolbox })
  return nodes.map(({ executor, part, predecessors = [] }) => {
    const heard = predecessors.map((one) => nodes[one]!.name)
    return { label: labelOf(executor, part, heard), predecessors }
  })
}

/** The question of a request, and which call of its graph it is. */
export function readCall(user: string): { question: string; label: string } {
  const { task, executor, predecessors = [] } = JSON.parse(user) as SentRequest
  // Of two predecessors with the same name, the second is called `name#2`.
  const heard = predecessors.map(({ id }) => id.replace(/#\d+$/, ''))
  return { question: task.question, label: labelOf(executor.id, executor.part, heard) }
}

interface SentRequest {
  readonly task: { readonly question: string }
  readonly executor: { readonly id: string; readonly part: string }
  readonly predecessors?: readonly { readonly id: string }[]
}

/** Two calls of one graph with the same label are interchangeable: they send the same request. */
function labelOf(executor: string, part: string, heard: readonly string[]): string {
  return `${executor} ${part} after ${[...heard].sort().join(', ')}`
}

/** The duration of the longest chain of calls, with `msOf` per call. */
export function longestChain(calls: readonly ExpectedCall[], msOf: (call: ExpectedCall) => number): number {
  const ends: number[] = []
  for (const [place, call] of calls.entries())
    ends[place] = Math.max(0, ...call.predecessors.map((one) => ends[one]!)) + msOf(call)
  return Math.max(...ends)
}

/** The longest chain with the times the model actually took. */
export function modelTime(calls: readonly ExpectedCall[], served: readonly ServedCall[]): number {
  const left = new Map<string, number[]>()
  for (const { label, ms } of served) left.set(label, [...(left.get(label) ?? []), ms])
  return longestChain(calls, ({ label }) => {
    const ms = left.get(label)?.shift()
    if (ms === undefined) throw new Error(`The model endpoint saw no call '${label}'.`)
    return ms
  })
}
