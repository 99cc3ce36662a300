import { randomUUID } from 'node:crypto'
import type { ChatFailure } from '../models/chat-model.ts'
import { setAlarm, systemClock } from '../models/clock.ts'
import { stopsRun } from '../models/failure.ts'
import { priceOf } from '../models/prices.ts'
import { defaultSettings } from '../settings/execution.ts'
import type { Execution, ExecutionOptions } from './execution.ts'
import { NodeExecution, type NodeRun, type NodeSurroundings } from './node.ts'
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
  readonly #messages: Message[] = []
  /** Per node, how many of its predecessors have not ended. */
  readonly #awaited: number[]
  #unended: number
  #cutShort: 'stopped' | 'timed_out' | 'aborted' | undefined
  #stop: ChatFailure | undefined
  #crash: { readonly error: unknown } | undefined
  readonly #ended = Promise.withResolvers<void>()

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
    this.#awaited = plan.nodes.map(({ predecessors }) => predecessors?.length ?? 0)
    this.#unended = plan.nodes.length
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
      for (const node of this.#plan.first) this.#startNode(node)
      await this.#ended.promise
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

  #startNode(index: number): void {
    const node = this.#plan.nodes[index]!
    const span = this.#span?.startNode(node)
    this.#around.tell({ type: 'node-start', node: node.id })
    const execution = new NodeExecution(node, this.#heard(node), this.#around, span)
    const ended = (run: NodeRun) => {
      const { status } = run.packet
      span?.endAs(status, isFailure(status))
      this.#endNode(index, run)
    }
    execution
      .run()
      .then(ended, (error: unknown) => {
        // A mistake in a client, a tool or a contract: end the other nodes, then throw it.
        this.#crash ??= { error }
        this.#cut('aborted')
        ended(execution.ended('aborted', 'The execution ended by a mistake in code.'))
      })
      .catch(this.#ended.reject)
  }

  #endNode(index: number, run: NodeRun): void {
    const { id: node, successors, name } = this.#plan.nodes[index]!
    const { packet, durationMs } = run
    const { status, reason } = packet
    this.#runs[index] = run
    const last = run.calls.at(-1)?.call.reply
    if (last !== undefined && !last.ok && stopsRun(last.kind)) {
      this.#stop ??= last
      this.#cut('stopped')
    }
    this.#around.tell({ type: 'node-end', node, status, reason, durationMs })
    if (successors.length > 0) {
      const text = projectPacket(packet, this.#around.settings.budgets)
      this.#messages[index] = { name, text: { key: node, text } }
    }
    for (const successor of successors) {
      this.#awaited[successor]! -= 1
      if (this.#awaited[successor] === 0) this.#startNode(successor)
    }
    this.#unended -= 1
    if (this.#unended === 0) this.#ended.resolve()
  }

  /** A node's messages, in an order that depends neither on how the graph was built nor on timing. */
  #heard({ predecessors, twins }: PlannedNode): readonly Text[] | undefined {
    const messages = predecessors?.map((predecessor) => this.#messages[predecessor]!)
    return messages && twins ? orderMessages(messages) : messages?.map(({ text }) => text)
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
