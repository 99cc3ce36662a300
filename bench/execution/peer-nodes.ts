import { type PlannedNode, planOf } from '../../src/execution/plan.ts'
import { requirementText, taskText } from '../../src/execution/text.ts'
import { emptyToolbox } from '../../src/execution/toolbox.ts'
import type { AgentGraph } from '../../src/graph/agent-graph.ts'
import { paperLibrary } from '../../src/library/paper-library/paper-library.ts'
import type { ChatModel } from '../../src/models/chat-model.ts'
import { defaultSettings } from '../../src/settings/execution.ts'
import { contract, profile, task } from './shapes.ts'

/** A node of the expanded graph, as a peer runs it. Everything that can be prepared before the run is. */
export interface PeerNode {
  readonly id: string
  /** Earlier nodes whose messages it gets, in this order. */
  readonly predecessors: readonly number[]
  /**
   * Writes the request from its predecessors' messages, asks, reads the reply with `JSON.parse` and returns its own message;
   * the last node returns the answer. No checks, retries, usage or trace: a peer's user would add those.
   */
  run(messages: readonly string[]): Promise<string>
}

/** The same nodes with byte-identical requests as in our engine; the finalizer is last. */
export function peerNodes(graph: AgentGraph, model: ChatModel): PeerNode[] {
  const { nodes } = planOf(graph, { library: paperLibrary, profile, tools: emptyToolbox })
  return nodes.map((node) => ({
    id: node.id,
    predecessors: node.predecessors!,
    run: node.part === 'finalizer' ? finalizer(node, model) : intermediate(node, model),
  }))
}

type Run = PeerNode['run']

function intermediate(node: PlannedNode, model: ChatModel): Run {
  const ask = asking(node, model)
  const { name, role, granularity } = node
  const opening = `{"id":"${name}","role":"${role}","granularity":"${granularity}","status":"ok"`
  return async (messages) => {
    const { analysis, answer } = JSON.parse(await ask(messages)).content
    return `${opening},"analysis":${JSON.stringify(analysis)},"answer":${JSON.stringify(answer)}}`
  }
}

function finalizer(node: PlannedNode, model: ChatModel): Run {
  const ask = asking(node, model)
  return async (messages) => JSON.parse(await ask(messages)).answer
}

function asking({ system, head }: PlannedNode, model: ChatModel): Run {
  const { decoding, budgets } = defaultSettings
  const opening = `${head.text}${taskText(task, budgets.task).text}${requirementText(contract).text},"predecessors":[`
  return async (messages) => {
    const user = `${opening}${messages.join(',')}]}`
    const reply = await model.ask({ system: system.text, user, decoding })
    if (!reply.ok) throw new Error(reply.message)
    return reply.text
  }
}

/** Nodes grouped by their longest path; those of one level can run at the same time. */
export function levelsOf(nodes: readonly Pick<PeerNode, 'predecessors'>[]): number[][] {
  const depths: number[] = []
  const levels: number[][] = []
  for (const [index, { predecessors }] of nodes.entries()) {
    const depth = Math.max(-1, ...predecessors.map((predecessor) => depths[predecessor]!)) + 1
    depths.push(depth)
    const level = levels[depth] ?? []
    levels[depth] = level
    level.push(index)
  }
  return levels
}
