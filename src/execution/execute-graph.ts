import { randomUUID } from 'node:crypto'
import { canaryOf } from '../models/canary.ts'
import type { ChatFailure } from '../models/chat-model.ts'
import { type Clock, setAlarm, systemClock } from '../models/clock.ts'
import { stopsRun } from '../models/failure.ts'
import { addCosts, type Cost, costOf, type Price, priceOf } from '../models/prices.ts'
import { addUsage, noUsage, type Usage } from '../models/usage.ts'
import { defaultSettings } from '../settings/execution.ts'
import type { Execution, ExecutionOptions } from './execution.ts'
import { brokenRun, type NodeRun, type NodeSurroundings, runNode } from './node.ts'
import { isFailure, projectPacket } from './packet.ts'
import { type Plan, type PlannedNode, planOf } from './plan.ts'
import { wrapFinal } from './protocol/final-answer.ts'
import { type Message, orderMessages } from './request.ts'
import type { Text } from './text.ts'
import { emptyToolbox } from './toolbox.ts'
import { announcer } from './trace/events.ts'
import { OpenSpan } from './trace/telemetry.ts'
import { idWithoutText, traceOf } from './trace/trace.ts'

/**
 * Runs a graph on a task: groups become their workers and aggregators, every node starts as soon as all its predecessors
 * have ended, and the finalizer turns the results of the sinks into the answer. A failed node does not fail the others.
 * Rejects only for mistakes in code: a graph that does not fit the library, a client or tool that throws.
 */
export async function executeGraph(options: ExecutionOptions): Promise<Execution> {
  const { graph, task, library, profile, contract, model, onEvent, tools = emptyToolbox } = options
  const { id = randomUUID(), clock = systemClock, settings = defaultSettings } = options
  const plan = planOf(graph, { library, profile, tools })
  const startedAt = new Date(clock.now())
  const start = performance.now()
  const elapsed = () => performance.now() - start
  const tell = announcer(id, onEvent)
  const early = new EarlyEnd()
  const about = { execution: id, workflow: profile.id, task: idWithoutText(task), model: model.identity }
  const span = OpenSpan.start({ ...about, content: settings.telemetryContent })
  // Field by field, so that tools see nothing else of a task.
  const { tables, program, publicTests } = task
  const toolContext = { tables, program, publicTests, sandbox: tools.sandbox }
  const { signal } = early
  const around = { ...options, settings, clock, signal, canary: canaryOf(model), toolContext, tell, elapsed }

  if (onEvent !== undefined) tell({ type: 'execution-start', task: task.id, nodes: announced(plan) })
  const stopWatching = early.watch(options.signal, settings.executionSeconds, clock)
  const runs = await runNodes(plan, around, early, span).finally(stopWatching)

  const packets = runs.map(({ packet }) => packet)
  const { status: ending, answer } = packets.at(-1)!
  const isAnswered = ending === 'ok'
  const status = isAnswered ? 'answered' : (early.why ?? 'unanswered')
  const { usage, reused, cost } = tallyOf(runs, priceOf(model.identity, settings.prices))
  span?.endAs(early.crash === undefined ? status : 'aborted', !isAnswered, usage)
  if (early.crash !== undefined) throw early.crash.error
  const durationMs = elapsed()
  const result = {
    id,
    status,
    answer: isAnswered ? answer : undefined,
    final: isAnswered ? wrapFinal(answer, contract) : undefined,
    stop: early.stop,
    packets,
    failures: packets.filter((packet) => isFailure(packet.status)),
    usage,
    reused,
    cost,
    durationMs,
  } as const
  tell({ type: 'execution-end', status, answer: result.answer, usage, cost, durationMs })
  return { ...result, trace: traceOf(result, options, runs, startedAt, settings.traceContent) }
}

/** Why an execution ended before its time, if it did. */
class EarlyEnd {
  why: 'stopped' | 'timed_out' | 'aborted' | undefined
  stop: ChatFailure | undefined
  crash: { readonly error: unknown } | undefined
  readonly #abort = new AbortController()

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  cut(why: 'stopped' | 'timed_out' | 'aborted'): void {
    this.why ??= why
    this.#abort.abort()
  }

  /** Cuts the execution short with the caller's signal or when its time is over, until it is told to stop watching. */
  watch(signal: AbortSignal | undefined, seconds: number | undefined, clock: Clock): () => void {
    const cancel = () => this.cut('aborted')
    const late = () => this.cut('timed_out')
    const cancelAlarm = seconds === undefined ? undefined : setAlarm(clock, seconds * 1000, late)
    if (signal?.aborted === true) cancel()
    signal?.addEventListener('abort', cancel, { once: true })
    return () => {
      cancelAlarm?.()
      signal?.removeEventListener('abort', cancel)
    }
  }
}

function announced({ nodes }: Plan) {
  return nodes.map(({ id: node, role, executor, part, predecessors = [] }) => {
    const heard = predecessors.map((predecessor) => nodes[predecessor]!.id)
    return { node, role, executor, part, predecessors: heard }
  })
}

async function runNodes(
  { nodes, order }: Plan,
  around: NodeSurroundings,
  early: EarlyEnd,
  span: OpenSpan | undefined,
): Promise<NodeRun[]> {
  const { tell, settings } = around
  const runs: NodeRun[] = []
  const messages: Promise<Message>[] = []
  /** Runs a node once all that it listens to have ended, and gives its own message. */
  const runOne = async (index: number): Promise<Message> => {
    const node = nodes[index]!
    const heard = node.predecessors?.map((predecessor) => messages[predecessor]!)
    // All at once: of several nodes that one reply makes ready, the first in the order must be the first to ask.
    const predecessors = heard && textsOf(await Promise.all(heard), node)
    const nodeSpan = span?.startNode(node)
    tell({ type: 'node-start', node: node.id })
    let run: NodeRun
    try {
      run = await runNode({ node, predecessors, around, span: nodeSpan })
    } catch (error) {
      // A mistake in a client, a tool or a contract: end the other nodes, then throw it.
      early.crash ??= { error }
      early.cut('aborted')
      run = brokenRun(node, around)
    }
    const { status, reason } = run.packet
    runs[index] = run
    nodeSpan?.endAs(status, isFailure(status))
    const last = run.calls.at(-1)?.call.reply
    if (last !== undefined && !last.ok && stopsRun(last.kind)) {
      early.stop ??= last
      early.cut('stopped')
    }
    tell({ type: 'node-end', node: node.id, status, reason, durationMs: run.durationMs })
    // Nobody listens to the last one.
    const text = node.remaining === 1 ? '' : projectPacket(run.packet, settings.budgets)
    return { name: node.name, text: { key: node.id, text } }
  }
  for (const index of order) messages[index] = runOne(index)
  await Promise.all(messages)
  return runs
}

/** A node's messages, in an order that depends neither on how the graph was built nor on timing. */
function textsOf(messages: readonly Message[], { twins }: PlannedNode): readonly Text[] {
  return twins ? orderMessages(messages) : messages.map(({ text }) => text)
}

/** What an execution used and what that cost, summed over all attempts of all calls. */
function tallyOf(
  runs: readonly NodeRun[],
  price: Price | undefined,
): { usage: Usage; reused: Usage; cost: Cost } {
  let usage = noUsage
  let reused = noUsage
  let cost: Cost = price === undefined ? 'unpriced' : { amount: 0, currency: price.currency }
  for (const { calls } of runs) {
    for (const { call, reused: isReused } of calls) {
      const { reply, attempts } = call
      // A shared rejection counts as one call in each execution, so that usage does not depend on which came first.
      if (isReused && (reply.ok || reply.kind === 'rejected'))
        reused = addUsage(reused, { ...noUsage, ...reply.usage, calls: 1 })
      usage = addUsage(usage, call.usage)
      if (price === undefined) continue
      // By the attempt, since a price may depend on the hour.
      for (const { reply: said, startedAt } of attempts)
        if (said.usage !== undefined) cost = addCosts(cost, costOf(said.usage, price, new Date(startedAt)))
    }
  }
  return { usage, reused, cost }
}
