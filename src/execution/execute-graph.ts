import { randomUUID } from 'node:crypto'
import type { Task } from '../library/task.ts'
import { processCallLimit } from '../models/call-limit.ts'
import { canaryOf } from '../models/canary.ts'
import type { ChatFailure } from '../models/chat-model.ts'
import { systemClock } from '../models/clock.ts'
import { stopsRun } from '../models/failure.ts'
import { priceOf } from '../models/prices.ts'
import { defaultSettings, type ExecutionSettings } from '../settings/execution.ts'
import { setAlarm } from './deadline.ts'
import { Announcer } from './events.ts'
import type { Execution, ExecutionOptions } from './execution.ts'
import { NodeExecution, type NodeRun, type NodeSurroundings } from './node.ts'
import { isFailure } from './packet.ts'
import { type Plan, type PlannedNode, planOf } from './plan.ts'
import { projectPacket } from './projection.ts'
import { wrapFinal } from './protocol/final-answer.ts'
import { type Message, orderMessages } from './request.ts'
import { Tally } from './tally.ts'
import { requirementText, taskText } from './task-text.ts'
import { ExecutionTelemetry } from './telemetry.ts'
import type { Text } from './text.ts'
import { TimedModel } from './timed-model.ts'
import { emptyToolbox, type Toolbox } from './toolbox.ts'
import { rounded, type Trace, tracedValue, traceNodes } from './trace.ts'

/**
 * Runs a graph on a task: groups become their workers and aggregators, every node starts as soon as all that it listens to
 * have ended, and the finalizer turns the results of the sinks into the answer. A node's failure stays with it.
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
      model: new TimedModel(model, settings.attemptSeconds, clock),
      canary: canaryOf(model),
      limit,
      clock,
      signal,
      toolContext: toolContext(task, tools),
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
    const callOff =
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
      callOff?.()
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
        // A mistake in a client, a tool or a contract. The others are told to end, and then it is thrown.
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
      ...(packet.reason === undefined ? {} : { reason: packet.reason }),
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

  /** The messages that a node gets, in an order that does not depend on the graph's construction nor on time. */
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
    this.#announcer.tell({
      type: 'execution-end',
      status,
      ...(answered ? { answer } : {}),
      usage,
      cost,
      durationMs,
    })
    const result = {
      id: this.#id,
      status,
      ...(answered ? { answer, final: wrapFinal(answer, contract) } : {}),
      ...(this.#stop === undefined ? {} : { stop: this.#stop }),
      packets,
      failures: packets.filter((packet) => isFailure(packet.status)),
      usage,
      reused,
      cost,
      durationMs,
    } as const
    return { ...result, trace: this.#trace(result) }
  }

  #trace({ status, answer, durationMs, usage, reused, cost }: Omit<Execution, 'trace'>): Trace {
    const { task, graph, library, contract, model } = this.#options
    const { traceContent } = this.#settings
    return {
      version: 1,
      execution: this.#id,
      startedAt: new Date(this.#startedAt).toISOString(),
      durationMs: rounded(durationMs),
      status,
      ...(answer === undefined || !traceContent ? {} : { answer: tracedValue(answer) }),
      ...(this.#stop === undefined ? {} : { stop: `${this.#stop.kind}: ${this.#stop.message}` }),
      task: task.id,
      graph: graph.toJSON(),
      library: library.fingerprint,
      contract: contract.name,
      model: model.identity,
      ...traceNodes(this.#runs, traceContent),
      usage,
      reused,
      cost,
    }
  }
}

/** Field by field, so that nothing else of a task comes along. */
function toolContext({ tables, program, publicTests }: Task, { sandbox }: Toolbox) {
  return {
    ...(tables === undefined ? {} : { tables }),
    ...(program === undefined ? {} : { program }),
    ...(publicTests === undefined ? {} : { publicTests }),
    ...(sandbox === undefined ? {} : { sandbox }),
  }
}
