import { randomUUID } from 'node:crypto'
import { processCallLimit } from '../models/call-limit.ts'
import { canaryOf } from '../models/canary.ts'
import type { ChatFailure } from '../models/chat-model.ts'
import { setAlarm, systemClock } from '../models/clock.ts'
import { stopsRun } from '../models/failure.ts'
import { priceOf } from '../models/prices.ts'
import { defaultSettings, type ExecutionSettings } from '../settings/execution.ts'
import type { Execution, ExecutionOptions } from './execution.ts'
import { NodeExecution, type NodeRun, type NodeSurroundings } from './node.ts'
import { isFailure } from './packet.ts'
import { type Plan, type PlannedNode, planOf } from './plan.ts'
import { projectPacket } from './projection.ts'
import { wrapFinal } from './protocol/final-answer.ts'
import { type Message, orderMessages } from './request.ts'
import { Tally } from './tally.ts'
import { requirementText, taskText } from './task-text.ts'
import type { Text } from './text.ts'
import { emptyToolbox } from './toolbox.ts'
import { Announcer } from './trace/events.ts'
import { ExecutionTelemetry } from './trace/telemetry.ts'
import { traceOf } from './trace/trace.ts'

/**
 * Runs a graph on a task: groups become their workers and aggregators, every node starts as soon as all its predecessors
 * have ended, and the finalizer turns the results of the sinks into the answer. A failed node does not fail the others.
 * Rejects only for mistakes in code: a graph that does not fit the library, a client or tool that throws.
 */
export function executeGraph(options: ExecutionOptions): Promise<Execution> {
  const { graph, library, profile, tools = emptyToolbox } = options
  try {
    return new GraphExecution(options, planOf(graph, library, profile, tools)).run()
  } catch (error) {
    return Promise.reject(error)
  }
}

class GraphExecution {
  readonly #options: ExecutionOptions
  readonly #plan: Plan
  readonly #id: string
  readonly #settings: ExecutionSettings
  readonly #start = performance.now()
  readonly #startedAt: number
  readonly #abort = new AbortController()
  readonly #tally: Tally
  readonly #announcer: Announcer
  readonly #telemetry: ExecutionTelemetry | undefined
  readonly #around: NodeSurroundings
  readonly #runs: NodeRun[]
  readonly #messages: Message[]
  /** Per node, how many of its predecessors have not ended. */
  readonly #awaited: number[]
  #unended: number
  #cutShort: 'stopped' | 'timed_out' | 'aborted' | undefined
  #stop: ChatFailure | undefined
  #crash: { readonly error: unknown } | undefined
  readonly #ended = Promise.withResolvers<void>()

  constructor(options: ExecutionOptions, plan: Plan) {
    const {
      task,
      contract,
      model,
      tools = emptyToolbox,
      clock = systemClock,
      limit = processCallLimit,
    } = options
    const settings = options.settings ?? defaultSettings
    const { signal } = this.#abort
    this.#options = options
    this.#plan = plan
    this.#id = options.id ?? randomUUID()
    this.#settings = settings
    this.#startedAt = clock.now()
    this.#tally = new Tally(priceOf(model.identity, settings.prices))
    this.#announcer = new Announcer(this.#id, options.onEvent)
    this.#telemetry = ExecutionTelemetry.start({
      execution: this.#id,
      workflow: options.profile.id,
      task: task.id,
      model: model.identity,
      content: settings.telemetryContent,
    })
    this.#around = {
      task,
      contract,
      settings,
      texts: {
        task: taskText(task, settings.budgets.task),
        requirement: requirementText(contract),
        budgets: settings.budgets,
      },
      others: options.others ?? [],
      model,
      canary: canaryOf(model),
      limit,
      clock,
      signal,
      // Field by field, so that tools see nothing else of a task.
      toolContext: {
        tables: task.tables,
        program: task.program,
        publicTests: task.publicTests,
        sandbox: tools.sandbox,
      },
      replies: settings.decoding.temperature === 0 ? options.replies : undefined,
      tally: this.#tally,
      announcer: this.#announcer,
      elapsed: () => performance.now() - this.#start,
    }
    this.#runs = new Array<NodeRun>(plan.nodes.length)
    this.#messages = new Array<Message>(plan.nodes.length)
    this.#awaited = plan.nodes.map(({ predecessors }) => predecessors?.length ?? 0)
    this.#unended = plan.nodes.length
  }

  async run(): Promise<Execution> {
    const { signal, clock = systemClock } = this.#options
    const { executionSeconds } = this.#settings
    const cancel = () => this.#cut('aborted')
    const cancelAlarm =
      executionSeconds === undefined
        ? undefined
        : setAlarm(clock, executionSeconds * 1000, () => this.#cut('timed_out'))
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
    if (!this.#announcer.listening) return
    const { nodes } = this.#plan
    this.#announcer.tell({
      type: 'execution-start',
      task: this.#options.task.id,
      nodes: nodes.map(({ id, role, executor, part, predecessors = [] }) => ({
        node: id,
        role,
        executor,
        part,
        predecessors: predecessors.map((predecessor) => nodes[predecessor]!.id),
      })),
    })
  }

  #startNode(index: number): void {
    const node = this.#plan.nodes[index]!
    const telemetry = this.#telemetry?.startNode(node)
    this.#announcer.tell({ type: 'node-start', node: node.id })
    const execution = new NodeExecution(node, this.#heard(node), this.#around, telemetry)
    const ended = (run: NodeRun) => {
      telemetry?.end(run.packet.status)
      this.#endNode(index, run)
    }
    execution
      .run()
      .then(ended, (error: unknown) => {
        // A mistake in a client, a tool or a contract: end the other nodes, then throw it.
        this.#crash ??= { error }
        this.#cut('aborted')
        ended(execution.givenUp())
      })
      .catch(this.#ended.reject)
  }

  #endNode(index: number, run: NodeRun): void {
    const { id, successors, name } = this.#plan.nodes[index]!
    const { packet, durationMs } = run
    this.#runs[index] = run
    const last = run.calls.at(-1)?.call.reply
    if (last !== undefined && !last.ok && stopsRun(last.kind)) {
      this.#stop ??= last
      this.#cut('stopped')
    }
    this.#announcer.tell({
      type: 'node-end',
      node: id,
      status: packet.status,
      reason: packet.reason,
      durationMs,
    })
    if (successors.length > 0) {
      const text = projectPacket(packet, this.#settings.budgets)
      this.#messages[index] = { name, text: { key: id, text } }
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
    if (predecessors === undefined) return undefined
    if (twins) return orderMessages(predecessors.map((predecessor) => this.#messages[predecessor]!))
    return predecessors.map((predecessor) => this.#messages[predecessor]!.text)
  }

  #cut(why: 'stopped' | 'timed_out' | 'aborted'): void {
    this.#cutShort ??= why
    this.#abort.abort()
  }

  #result(): Execution {
    if (this.#crash !== undefined) {
      this.#telemetry?.end('aborted', this.#tally.made)
      throw this.#crash.error
    }
    const { contract } = this.#options
    const packets = this.#runs.map(({ packet }) => packet)
    const { status: ending, answer } = packets.at(-1)!
    const answered = ending === 'ok'
    const status = answered ? 'answered' : (this.#cutShort ?? 'unanswered')
    const durationMs = this.#around.elapsed()
    const { made: usage, reused, cost } = this.#tally
    this.#telemetry?.end(status, usage)
    const final = answered ? answer : undefined
    this.#announcer.tell({ type: 'execution-end', status, answer: final, usage, cost, durationMs })
    const result = {
      id: this.#id,
      status,
      answer: final,
      final: answered ? wrapFinal(answer, contract) : undefined,
      stop: this.#stop,
      packets,
      failures: packets.filter((packet) => isFailure(packet.status)),
      usage,
      reused,
      cost,
      durationMs,
    } as const
    const startedAt = new Date(this.#startedAt)
    return {
      ...result,
      trace: traceOf(result, this.#options, this.#runs, startedAt, this.#settings.traceContent),
    }
  }
}
