import { randomUUID } from 'node:crypto'
import type { AgentGraph } from '../graph/agent-graph.ts'
import type { JsonObject } from '../library/json-value.ts'
import { canaryOf } from '../models/canary.ts'
import type { ChatFailure, ModelIdentity } from '../models/chat-model.ts'
import { type Clock, setAlarm, systemClock } from '../models/clock.ts'
import { stopsRun } from '../models/failure.ts'
import { addCosts, type Cost, costOf, type PriceTable, pricedName, priceOf } from '../models/prices.ts'
import { addUsage, noUsage, type Usage } from '../models/usage.ts'
import { isCapReached } from '../problem.ts'
import { defaultSettings } from '../settings/execution.ts'
import type { Execution, ExecutionOptions } from './execution.ts'
import { brokenRun, type NodeContext, type NodeRun, runNode, uncalledRun } from './node.ts'
import { isFailure } from './packet.ts'
import type { PlannedNode } from './plan.ts'
import { wrapFinal } from './protocol/final-answer.ts'
import type { Text } from './text.ts'
import { emptyToolbox } from './toolbox.ts'
import { announcer, type EventBody } from './trace/events.ts'
import { OpenSpan } from './trace/telemetry.ts'
import { idWithoutText, traceOf } from './trace/trace.ts'

/** What was run. The packet of the last run holds the answer. */
export interface Ran {
  readonly graph: AgentGraph
  readonly runs: readonly NodeRun[]
  readonly notes?: JsonObject
}

/** Given to whatever runs the nodes of an execution. */
export interface NodeRunner {
  readonly context: NodeContext
  /** Runs a node on its predecessors' messages. Model failures end up in its packet. */
  run(node: PlannedNode, predecessors: readonly Text[] | undefined): Promise<NodeRun>
}

export type ExecutionMeans = Omit<ExecutionOptions, 'graph'>

/**
 * The frame of every execution: deadlines, the caller's signal, spans, events, usage, cost and trace. `work` runs the
 * nodes. Rejects only for programming errors.
 */
export async function execute(
  options: ExecutionMeans,
  announced: () => Extract<EventBody, { type: 'execution-start' }>['nodes'],
  work: (runner: NodeRunner) => Promise<Ran>,
): Promise<Execution> {
  const { task, profile, contract, model, onEvent, tools = emptyToolbox } = options
  const { id = randomUUID(), clock = systemClock, settings = defaultSettings } = options
  const startedAt = new Date(clock.now())
  const start = performance.now()
  const elapsed = () => performance.now() - start
  const tell = onEvent && announcer(id, onEvent)
  const early = new EarlyEnd()
  const about = { execution: id, workflow: profile.id, task: idWithoutText(task), model: model.identity }
  const span = OpenSpan.start({ ...about, content: settings.telemetryContent })
  // Picked field by field, so that tools see nothing else of the task.
  const { tables, program, publicTests } = task
  const toolContext = { tables, program, publicTests, sandbox: tools.sandbox }
  const { signal } = early
  const context = {
    ...options,
    settings,
    clock,
    signal,
    canary: canaryOf(model),
    toolContext,
    tell,
    elapsed,
  }

  tell?.({ type: 'execution-start', task: task.id, nodes: announced() })
  const stopWatching = early.watch(options.signal, settings.executionSeconds, clock)
  const { graph, runs, notes } = await work({ context, run: nodeRunner(context, early, span) }).finally(
    stopWatching,
  )

  const packets = runs.map(({ packet }) => packet)
  const { status: ending, answer } = packets.at(-1)!
  const isAnswered = ending === 'ok'
  const status = isAnswered ? 'answered' : (early.why ?? 'unanswered')
  const { usage, reused, further, cost } = tallyOf(runs, model.identity, settings.prices)
  span?.endAs(early.crash === undefined ? status : 'aborted', !isAnswered, usage)
  if (early.crash !== undefined) throw early.crash.error
  const durationMs = elapsed()
  const result = {
    id,
    status,
    graph,
    ...(notes !== undefined && { notes }),
    answer: isAnswered ? answer : undefined,
    final: isAnswered ? wrapFinal(answer, contract) : undefined,
    stop: early.stop,
    packets,
    failures: packets.filter((packet) => isFailure(packet.status)),
    usage,
    reused,
    ...(further && { further }),
    cost,
    durationMs,
  } as const
  tell?.({ type: 'execution-end', status, answer: result.answer, usage, cost, durationMs })
  return { ...result, trace: traceOf(result, options, runs, startedAt, settings.traceContent) }
}

function nodeRunner(context: NodeContext, early: EarlyEnd, span: OpenSpan | undefined): NodeRunner['run'] {
  const { tell, interference } = context
  return async (node, predecessors) => {
    const nodeSpan = span?.startNode(node)
    tell?.({ type: 'node-start', node: node.id })
    let run: NodeRun
    try {
      // After a crash the execution has no result, so nothing more is asked.
      if (early.crash !== undefined) run = brokenRun(node, context)
      else if (isMadeToFail(node, interference))
        run = uncalledRun(node, context, {
          status: 'format_failure',
          reason: 'It was made to fail on purpose.',
        })
      else run = await runNode({ node, predecessors, context, span: nodeSpan })
    } catch (error) {
      // A cap, or a bug in a client, tool or contract: thrown again at the end.
      early.crash ??= { error }
      // At a cap, the calls in flight are paid for, so their replies are worth keeping.
      if (!isCapReached(error)) early.cut('aborted')
      run = brokenRun(node, context)
    }
    const { status, reason } = run.packet
    nodeSpan?.endAs(status, isFailure(status))
    const last = run.calls.at(-1)?.call.reply
    if (last !== undefined && !last.ok && stopsRun(last.kind)) {
      early.stop ??= last
      early.cut('stopped')
    }
    tell?.({ type: 'node-end', node: node.id, status, reason, durationMs: run.durationMs })
    return run
  }
}

/**
 * Only nodes that answer the task can be made to fail. Without the finalizer or the direct path nothing could be
 * measured.
 */
function isMadeToFail(
  { id: node, role, part }: PlannedNode,
  interference: ExecutionOptions['interference'],
): boolean {
  if (interference === undefined || part === 'finalizer' || part === 'direct' || part === 'control')
    return false
  return interference.fails({ node, role, part })
}

/** Why an execution ended early, if it did. */
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

  /** Ends the execution on the caller's signal or at its time limit. Returns a function that stops watching. */
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

/** Usage and cost of an execution, summed over all attempts of all calls. */
function tallyOf(
  runs: readonly NodeRun[],
  identity: ModelIdentity,
  prices: PriceTable | undefined,
): Pick<Execution, 'usage' | 'reused' | 'further' | 'cost'> {
  const usual = priceOf(identity, prices)
  let usage = noUsage
  let reused = noUsage
  let further: Record<string, Usage> | undefined
  let cost: Cost = usual === undefined ? 'unpriced' : { amount: 0, currency: usual.currency }
  for (const { calls, model } of runs) {
    const price = model === undefined ? usual : priceOf(model, prices)
    for (const { call, reused: isReused } of calls) {
      const { reply, attempts } = call
      // A shared rejection counts as one call in every execution, so that usage does not depend on which came first.
      if (isReused && (reply.ok || reply.kind === 'rejected'))
        reused = addUsage(reused, { ...noUsage, ...reply.usage, calls: 1 })
      usage = addUsage(usage, call.usage)
      if (model !== undefined) {
        const name = pricedName(model)
        const known = isReused && reply.ok ? { ...noUsage, ...reply.usage } : noUsage
        further = { ...further, [name]: addUsage(further?.[name] ?? noUsage, call.usage, known) }
      }
      if (price === undefined) {
        cost = 'unpriced'
        continue
      }
      // Per attempt, since a price may depend on the time of day.
      for (const { reply: said, startedAt } of attempts)
        if (said.usage !== undefined) cost = addCosts(cost, costOf(said.usage, price, new Date(startedAt)))
    }
  }
  return { usage, reused, further, cost }
}
