import type { AgentGraph } from '../graph/agent-graph.ts'
import type { JsonValue } from '../library/json-value.ts'
import { answersOf, majorityOf, readChoice } from './conclusion.ts'
import { execute, type Workplace } from './execute.ts'
import type { Execution, ExecutionOptions } from './execution.ts'
import { type NodeRun, type NodeSurroundings, uncalledRun } from './node.ts'
import { asOwn, projectPacket } from './packet.ts'
import { type Plan, type PlannedNode, planOf } from './plan.ts'
import { type Message, orderMessages } from './request.ts'
import type { Text } from './text.ts'
import { emptyToolbox } from './toolbox.ts'

/**
 * Runs a graph on a task: groups become their workers and aggregators, every node starts as soon as all its predecessors
 * have ended, and the finalizer turns the results of the sinks into the answer. A failed node does not fail the others.
 * Rejects only for mistakes in code: a graph that does not fit the library, a client or tool that throws.
 */
export async function executeGraph(options: ExecutionOptions): Promise<Execution> {
  const { graph, library, profile, tools = emptyToolbox } = options
  const plan = planOf(graph, { library, profile, tools })
  return execute(
    options,
    () => announced(plan),
    (place) => runNodes(graph, plan, place),
  )
}

function announced({ nodes }: Plan) {
  return nodes.map(({ id: node, role, executor, part, predecessors = [] }) => {
    const heard = predecessors.map((predecessor) => nodes[predecessor]!.id)
    return { node, role, executor, part, predecessors: heard }
  })
}

async function runNodes(graph: AgentGraph, { nodes, order }: Plan, { around, run }: Workplace) {
  const { settings, interference, task } = around
  const runs: NodeRun[] = []
  const messages: Promise<Message>[] = []
  /** Runs a node once all that it listens to have ended, and gives its own message. */
  const runOne = async (index: number): Promise<Message> => {
    const node = nodes[index]!
    const heard = node.predecessors?.map((predecessor) => messages[predecessor]!)
    // All at once: of several nodes that one reply makes ready, the first in the order must be the first to ask.
    const said = heard && (await Promise.all(heard))
    const predecessors = said && textsOf(said, node)
    runs[index] = await (node.decides === undefined
      ? run(node, predecessors)
      : conclude(node, said!, predecessors!, { around, run }))
    const { packet } = runs[index]
    const handedOn = interference === undefined ? packet : interference.handedOn(packet, task)
    // Nobody listens to the last one.
    const text = node.remaining === 1 ? '' : projectPacket(handedOn, settings.budgets)
    return { name: node.name, text: { key: node.id, text }, packet: handedOn }
  }
  for (const index of order) messages[index] = runOne(index)
  await Promise.all(messages)
  return { graph, runs }
}

/** The finalizers without a summarizer. A vote that says nothing leaves it to the summarizer after all. */
function conclude(
  node: PlannedNode,
  said: readonly Message[],
  predecessors: readonly Text[],
  { around, run }: Workplace,
): Promise<NodeRun> | NodeRun {
  const packets = said.map(({ packet }) => packet)
  if (node.decides === 'best')
    return run({ ...node, read: (text) => readChoice(text, packets) }, predecessors)
  const answers = answersOf(packets)
  if (answers.length === 0) return uncalled(node, null, around)
  const most = node.decides === 'last' ? answers[0]! : majorityOf(answers, around.task)
  return most === undefined ? run(node, predecessors) : uncalled(node, most, around)
}

function uncalled(node: PlannedNode, answer: JsonValue, around: NodeSurroundings): NodeRun {
  const status = answer === null ? 'null_answer' : 'ok'
  around.tell({ type: 'node-start', node: node.id })
  around.tell({ type: 'node-end', node: node.id, status, durationMs: 0 })
  return uncalledRun({ ...node, executor: node.decides! }, around, { status, answer })
}

/** A node's messages, in an order that depends neither on how the graph was built nor on timing. */
function textsOf(messages: readonly Message[], { twins, own, predecessors }: PlannedNode): readonly Text[] {
  if (twins) return orderMessages(messages)
  if (own === undefined) return messages.map(({ text }) => text)
  return messages.map(({ text }, place) => (own.has(predecessors![place]!) ? asOwn(text) : text))
}
