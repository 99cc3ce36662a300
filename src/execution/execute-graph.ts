import { randomUUID } from 'node:crypto'
import type { ChatFailure } from '../models/chat-model.ts'
import { setAlarm, systemClock } from '../models/clock.ts'
import { stopsRun } from '../models/failure.ts'
import { priceOf } from '../models/prices.ts'
import { defaultSettings } from '../settings/execution.ts'
import type { Execution, ExecutionOptions } from './execution.ts'
import { brokenRun, type NodeRun, type NodeSurroundings, runNode } from './node.ts'
import { isFailure, projectPacket } from './packet.ts'
import { type Plan, type PlannedNode, planOf } from './plan.ts'
import { wrapFinal } from './protocol/final-answer.ts'
import { type Message, orderMessages } from './request.ts'
import { tallyOf } from './tally.ts'
import type { Text } from './text.ts'
import { emptyToolbox } from './toolbox.ts'
import { announcer } from './trace/events.ts'
import { OpenSpan } from './trace/telemetry.ts'
import { traceOf } from './trace/trace.ts'

/**
 * Runs a graph on a task: groups become their workers and aggregators, every node starts as soon as all its predecessors
 * have ended, and the finalizer turns the results of the sinks into the answer. A failed node does not fail the others.
 * Rejects only for mistakes in code: a graph that does not fit the library, a client or tool that throws.
 */
export async function executeGraph(options: ExecutionOptions): Promise<Execution> {
  const { graph, library, profile, tools = emptyToolbox } = options
  return await new GraphExecution(options, planOf(graph, { library, profile, tools })).run(options)
}

class GraphExecution {
  readonly #plan: Plan
  readonly #id: string
  readonly #startedAt: Date
  readonly #abort = new AbortController()
  readonly #span: OpenSpan | undefined
  readonly #around: NodeSurroundings
  readonly #runs: NodeRun[] = []
  #cutShort: 'stopped' | 'timed_out' | 'aborted' | undefined
  #stop: ChatFailure | undefined
  #crash: { readonly error: unknown } | undefined

  constructor(options: ExecutionOptions, plan: Plan) {
    const { task, model, tools, profile, id = randomUUID(), clock = systemClock } = options
    const { settings = defaultSettings } = options
    const start = performance.now()
    this.#plan = plan
    this.#id = id
    this.#startedAt = new Date(clock.now())
    this.#span = OpenSpan.start({
      execution: id,
      workflow: profile.id,
      task: task.id,
      model: model.identity,
      content: settings.telemetryContent,
    })
    const { tables, program, publicTests } = task
    this.#around = {
      ...options,
      settings,
      clock,
      signal: this.#abort.signal,
      // Field by field, so that tools see nothing else of a task.
      toolContext: { tables, program, publicTests, sandbox: tools?.sandbox },
      tell: announcer(id, options.onEvent),
      elapsed: () => performance.now() - start,
    }
  }

  /** `signal` is the caller's. */
  async run({ signal }: Pick<ExecutionOptions, 'signal'>): Promise<Execution> {
    const { executionSeconds } = this.#around.settings
    const cancel = () => this.#cut('aborted')
    const cancelAlarm =
      executionSeconds === undefined
        ? undefined
        : setAlarm(this.#around.clock!, executionSeconds * 1000, () => this.#cut('timed_out'))
    if (signal?.aborted === true) cancel()
    signal?.addEventListener('abort', cancel, { once: true })
    this.#announce()
    try {
      const messages: Promise<Message>[] = []
      for (const index of this.#plan.order) messages[index] = this.#runNode(index, messages)
      await Promise.all(messages)
    } finally {
      cancelAlarm?.()
      signal?.removeEventListener('abort', cancel)
    }
    return this.#result()
  }

  #announce(): void {
    if (this.#around.onEvent === undefined) return
    const { nodes } = this.#plan
    this.#around.tell({
      type: 'execution-start',
      task: this.#around.task.id,
      nodes: nodes.map(({ id, role, executor, part, predecessors = [] }) => ({
        node: id,
        ...{ role, executor, part },
        predecessors: predecessors.map((predecessor) => nodes[predecessor]!.id),
      })),
    })
  }

  /** Runs a node once all that it listens to have ended, and gives its own message. */
  async #runNode(index: number, messages: readonly Promise<Message>[]): Promise<Message> {
    const node = this.#plan.nodes[index]!
    const heard = node.predecessors?.map((predecessor) => messages[predecessor]!)
    const texts = heard && textsOf(await Promise.all(heard), node)
    const { tell, settings } = this.#around
    const span = this.#span?.startNode(node)
    tell({ type: 'node-start', node: node.id })
    const run = await runNode(node, texts, this.#around, span).catch((error: unknown) => {
      // A mistake in a client, a tool or a contract: end the other nodes, then throw it.
      this.#crash ??= { error }
      this.#cut('aborted')
      return brokenRun(node, this.#around)
    })
    const { status, reason } = run.packet
    this.#runs[index] = run
    span?.endAs(status, isFailure(status))
    const last = run.calls.at(-1)?.call.reply
    if (last !== undefined && !last.ok && stopsRun(last.kind)) {
      this.#stop ??= last
      this.#cut('stopped')
    }
    tell({ type: 'node-end', node: node.id, status, reason, durationMs: run.durationMs })
    const text = projectPacket(run.packet, settings.budgets)
    return { name: node.name, text: { key: node.id, text } }
  }

  #cut(why: 'stopped' | 'timed_out' | 'aborted'): void {
    this.#cutShort ??= why
    this.#abort.abort()
  }

  #result(): Execution {
    const { contract, settings, model, tell, elapsed } = this.#around
    const packets = this.#runs.map(({ packet }) => packet)
    const { status: ending, answer } = packets.at(-1)!
    const isAnswered = ending === 'ok'
    const status = isAnswered ? 'answered' : (this.#cutShort ?? 'unanswered')
    const { usage, reused, cost } = tallyOf(this.#runs, priceOf(model.identity, settings.prices))
    this.#span?.endAs(this.#crash === undefined ? status : 'aborted', !isAnswered, usage)
    if (this.#crash !== undefined) throw this.#crash.error
    const durationMs = elapsed()
    const result = {
      id: this.#id,
      status,
      answer: isAnswered ? answer : undefined,
      final: isAnswered ? wrapFinal(answer, contract) : undefined,
      stop: this.#stop,
      packets,
      failures: packets.filter((packet) => isFailure(packet.status)),
      usage,
      reused,
      cost,
      durationMs,
    } as const
    tell({ type: 'execution-end', status, answer: result.answer, usage, cost, durationMs })
    const trace = traceOf(result, this.#around, this.#runs, this.#startedAt, settings.traceContent)
    return { ...result, trace }
  }
}

/** A node's messages, in an order that depends neither on how the graph was built nor on timing. */
function textsOf(messages: readonly Message[], { twins }: PlannedNode): readonly Text[] {
  return twins ? orderMessages(messages) : messages.map(({ text }) => text)
}
