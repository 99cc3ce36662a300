import type { AgentGraph } from '../graph/agent-graph.ts'
import type { JsonValue } from '../library/json-value.ts'
import { answersOf, majorityOf, readChoice } from './conclusion.ts'
import { execute, type NodeRunner, type Ran } from './execute.ts'
import type { Execution, ExecutionOptions } from './execution.ts'
import { type NodeContext, type NodeRun, uncalledRun } from './node.ts'
import { asOwn, projectPacket } from './packet.ts'
import { type Plan, type PlannedNode, planOf } from './plan.ts'
import { type Message, orderMessages } from './request.ts'
import type { Text } from './text.ts'
import { emptyToolbox } from './toolbox.ts'

/**
 * Runs a graph on a task. Groups expand into workers and an aggregator, each node starts as soon as all its
 * predecessors have ended, and the finalizer turns the results of the sinks into the answer. A failed node does not
 * fail the others. Rejects only for programming errors: a graph that does not fit the library, or a client or tool
 * that throws.
 */
export async function executeGraph(options: ExecutionOptions): Promise<Execution> {
  const { graph, library, profile, tools = emptyToolbox } = options
  const plan = planOf(graph, { library, profile, tools })
  return execute(
    options,
    () => announced(plan),
    (runner) => runNodes(graph, plan, runner),
  )
}

function announced({ nodes }: Plan) {
  return nodes.map(({ id: node, role, executor, part, predecessors = [] }) => {
    const heard = predecessors.map((predecessor) => nodes[predecessor]!.id)
    return { node, role, executor, part, predecessors: heard }
  })
}

/**
 * Starts each node when its last predecessor has ended. A node that waits has no promise or stack frame yet: with
 * thousands of graphs at once, those would take most of the memory.
 */
function runNodes(
  graph: AgentGraph,
  { nodes, order, listeners }: Plan,
  { context, run }: NodeRunner,
): Promise<Ran> {
  const { settings, interference, task } = context
  const { promise, resolve, reject } = Promise.withResolvers<Ran>()
  const runs: NodeRun[] = []
  const messages: Message[] = []
  const awaited = nodes.map(({ predecessors = [] }) => predecessors.length)
  let left = nodes.length

  /** Passes a result on to its listeners; if one reply makes several of them ready, they start in plan order. */
  const handOn = (index: number, { packet }: NodeRun) => {
    if (listeners[index]!.length === 0) return
    const { id, name } = nodes[index]!
    const handedOn = interference === undefined ? packet : interference.handedOn(packet, task)
    const text = { key: id, text: projectPacket(handedOn, settings.budgets) }
    messages[index] = { name, text, packet: handedOn }
    for (const listener of listeners[index]!) {
      awaited[listener]! -= 1
      if (awaited[listener] === 0) void runOne(listener)
    }
  }
  const runOne = async (index: number): Promise<void> => {
    try {
      const node = nodes[index]!
      const said = node.predecessors?.map((predecessor) => messages[predecessor]!)
      const predecessors = said && textsOf(said, node)
      runs[index] = await (node.decides === undefined
        ? run(node, predecessors)
        : conclude(node, said!, predecessors!, { context, run }))
      handOn(index, runs[index])
    } catch (error) {
      reject(error)
    }
    left -= 1
    if (left === 0) resolve({ graph, runs })
  }
  for (const index of order) if (awaited[index] === 0) void runOne(index)
  return promise
}

/** Finalizers other than the summarizer. A vote without a majority falls back to the summarizer. */
function conclude(
  node: PlannedNode,
  said: readonly Message[],
  predecessors: readonly Text[],
  { context, run }: NodeRunner,
): Promise<NodeRun> | NodeRun {
  const packets = said.map(({ packet }) => packet)
  if (node.decides === 'best')
    return run({ ...node, read: (text) => readChoice(text, packets) }, predecessors)
  const answers = answersOf(packets)
  if (answers.length === 0) return uncalled(node, null, context)
  const most = node.decides === 'last' ? answers[0]! : majorityOf(answers, context.task)
  return most === undefined ? run(node, predecessors) : uncalled(node, most, context)
}

function uncalled(node: PlannedNode, answer: JsonValue, context: NodeContext): NodeRun {
  const status = answer === null ? 'null_answer' : 'ok'
  context.tell?.({ type: 'node-start', node: node.id })
  context.tell?.({ type: 'node-end', node: node.id, status, durationMs: 0 })
  return uncalledRun({ ...node, executor: node.decides! }, context, { status, answer })
}

/** A node's incoming messages, in an order independent of graph construction and of timing. */
function textsOf(messages: readonly Message[], { twins, own, predecessors }: PlannedNode): readonly Text[] {
  const marked =
    own === undefined
      ? messages
      : messages.map(({ name, text }, place) => ({
          name,
          text: own.has(predecessors![place]!) ? asOwn(text) : text,
        }))
  return twins ? orderMessages(marked) : marked.map(({ text }) => text)
}
