import type { AnswerContract } from '../library/answer-contract.ts'
import type { JsonValue } from '../library/json-value.ts'
import type { Task } from '../library/task.ts'
import type { CallLimit } from '../models/call-limit.ts'
import type { Canary } from '../models/canary.ts'
import { type ChatAnswer, type ChatModel, type ChatRequest, requestDigest } from '../models/chat-model.ts'
import type { Clock } from '../models/clock.ts'
import { type Call, callModel } from '../models/retry.ts'
import type { ExecutionSettings } from '../settings/execution.ts'
import { type Asked, askOnce } from './ask-once.ts'
import type { Question } from './execution.ts'
import type { Memory } from './once.ts'
import type { NodeStatus, Packet } from './packet.ts'
import type { PlannedNode } from './plan.ts'
import { asFailed } from './projection.ts'
import { parseFinalResponse, parseNodeResponse, type ToolRequest } from './protocol/response.ts'
import { type CommonTexts, nodeRequest, type RequestTexts, type Turn } from './request.ts'
import type { Tally } from './tally.ts'
import { requirementText, taskText } from './task-text.ts'
import type { Text } from './text.ts'
import { takeToolTurn } from './tool-turn.ts'
import type { ToolContext } from './tools/tool.ts'
import type { Announcer } from './trace/events.ts'
import type { NodeTelemetry } from './trace/telemetry.ts'

/** What all nodes of an execution share. */
export interface NodeSurroundings {
  readonly task: Task
  readonly contract: AnswerContract
  readonly settings: ExecutionSettings
  readonly texts: CommonTexts
  readonly others: Iterable<Question>
  readonly model: ChatModel
  readonly canary: Canary
  readonly limit: CallLimit
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly toolContext: ToolContext
  readonly replies: Memory<Call> | undefined
  readonly tally: Tally
  readonly announcer: Announcer
  /** Monotonic milliseconds since the execution's start. */
  readonly elapsed: () => number
}

interface Timed {
  readonly startMs: number
  readonly durationMs: number
}

export interface CallRecord extends Asked, Timed {
  readonly request: RequestTexts
}

export interface ToolRecord extends Timed {
  readonly tool: string
  readonly payload: JsonValue
  readonly observation: JsonValue
}

/** A node's result and how it came about. */
export interface NodeRun extends Timed {
  readonly packet: Packet
  readonly calls: readonly CallRecord[]
  readonly tool?: ToolRecord
}

const harmlessTask: Task = {
  id: 'harmless',
  question: 'A box holds 12 pens and a shelf holds 7 boxes. How many pens are on the shelf?',
  metadata: {},
}

/**
 * Runs one node: ask, use a tool if it asks for one, ask again. At most one tool, one repair and one concise retry, so
 * never more than four calls, whatever the model says.
 */
export class NodeExecution {
  readonly #node: PlannedNode
  readonly #predecessors: readonly Text[] | undefined
  readonly #around: NodeSurroundings
  readonly #telemetry: NodeTelemetry | undefined
  readonly #startMs: number
  /** The finalizer and the direct path get no second chance. */
  readonly #isFinal: boolean
  readonly #calls: CallRecord[] = []
  #turn: Turn
  #tool: ToolRecord | undefined

  constructor(
    node: PlannedNode,
    predecessors: readonly Text[] | undefined,
    around: NodeSurroundings,
    telemetry: NodeTelemetry | undefined,
  ) {
    this.#node = node
    this.#predecessors = predecessors
    this.#around = around
    this.#telemetry = telemetry
    this.#startMs = around.elapsed()
    this.#isFinal = node.part === 'finalizer' || node.part === 'direct'
    this.#turn = { number: 0, mayUseTool: node.tools.size > 0 }
  }

  async run(): Promise<NodeRun> {
    if (this.#around.signal.aborted) return this.#failed('aborted', 'The execution ended before its turn.')
    for (;;) {
      const { reply } = (await this.#ask()).call
      if (!reply.ok && reply.kind === 'cancelled') return this.#failed('aborted', reply.message)
      if (!reply.ok) return this.#failed('model_failure', `${reply.kind}: ${reply.message}`)
      const ended = await this.#read(reply)
      if (ended !== undefined) return ended
    }
  }

  /** What to record of a node whose run threw an error. */
  givenUp(): NodeRun {
    return this.#failed('aborted', 'The execution ended by a mistake in code.')
  }

  async #ask(): Promise<Asked> {
    const { texts, model, canary, limit, clock, signal, settings, replies, tally, announcer, elapsed } =
      this.#around
    const { user, texts: request } = nodeRequest(this.#node, this.#predecessors, this.#turn, texts)
    const chat = { system: request.system.text, user, decoding: settings.decoding }
    const startMs = elapsed()
    const span = this.#telemetry?.startCall(chat)
    const attemptMs = settings.attemptSeconds * 1000
    const priority = this.#node.remaining
    const ordinary = { [Symbol.iterator]: () => this.#ordinaryRequests() }
    const call = (until: AbortSignal) =>
      callModel(model, chat, { limit, priority, signal: until, clock, canary, ordinary, attemptMs })
    const ask = (until: AbortSignal) => (span === undefined ? call(until) : span.within(() => call(until)))
    const digest = replies === undefined ? undefined : requestDigest(model.identity, chat)
    const asked =
      replies === undefined || digest === undefined
        ? { call: await ask(signal), reused: false }
        : await askOnce(replies, digest, signal, ask)
    const durationMs = elapsed() - startMs
    tally.add(asked.call, asked.reused)
    span?.end(asked)
    this.#calls.push({ ...asked, request, startMs, durationMs })
    announcer.tell({
      type: 'call-end',
      node: this.#node.id,
      ok: asked.call.reply.ok,
      reused: asked.reused,
      digest,
      usage: asked.call.usage,
      durationMs,
    })
    return asked
  }

  /**
   * What this node would ask first about other questions if its predecessors had failed: nothing sets these requests apart
   * from those of a run. Without other questions there is one that no endpoint objects to.
   */
  *#ordinaryRequests(): Generator<ChatRequest> {
    const { others, contract, settings } = this.#around
    const { budgets, decoding } = settings
    const predecessors = this.#predecessors?.map(asFailed)
    const turn = { number: 0, mayUseTool: this.#node.tools.size > 0 }
    const requestAbout = ({ task, contract }: Question): ChatRequest => {
      const texts = {
        task: taskText(task, budgets.task),
        requirement: requirementText(contract),
        budgets,
      }
      const { user } = nodeRequest(this.#node, predecessors, turn, texts)
      return { system: this.#node.system.text, user, decoding }
    }
    let hasOthers = false
    for (const other of others) {
      hasOthers = true
      yield requestAbout(other)
    }
    if (!hasOthers) yield requestAbout({ task: harmlessTask, contract })
  }

  /** The node's result, or undefined if it is to be asked again. */
  async #read(reply: ChatAnswer): Promise<NodeRun | undefined> {
    const parse = this.#isFinal ? parseFinalResponse : parseNodeResponse
    const response = parse(reply.text, this.#around.contract)
    switch (response.class) {
      case 'content':
        return this.#ended('ok', response.analysis, response.answer)
      case 'null_answer':
        return this.#ended('null_answer', response.analysis, null)
      case 'format_failure':
        return reply.finish === 'length' ? this.#cutOff() : this.#failed('format_failure', response.reason)
      case 'contract_violation':
        return this.#refuse(reply, response.problem)
      case 'tool_request':
        return this.#turn.mayUseTool && this.#node.tools.has(response.tool)
          ? this.#useTool(response)
          : this.#refuse(reply, this.#problemWithTool(response))
    }
  }

  /** One concise retry for an intermediate node. */
  #cutOff(): NodeRun | undefined {
    if (this.#isFinal || this.#turn.concise === true)
      return this.#failed('truncated', 'The reply was cut off at the output limit.')
    this.#again({ concise: true })
    return undefined
  }

  /** One repair for an intermediate node, which must then give content. */
  #refuse({ text }: ChatAnswer, problem: string): NodeRun | undefined {
    if (this.#isFinal || this.#turn.repair !== undefined) return this.#failed('contract_violation', problem)
    this.#again({ repair: { problem, previous: text }, mayUseTool: false })
    return undefined
  }

  #problemWithTool({ tool }: ToolRequest): string {
    if (this.#tool !== undefined) return 'You have used your one tool: reply with content.'
    if (!this.#turn.mayUseTool) return 'You have no tool: reply with content.'
    const named = tool.length > 60 ? `${tool.slice(0, 60).toWellFormed()}…` : tool
    return `You do not have the tool ${JSON.stringify(named)}: reply with content.`
  }

  async #useTool({ tool: name, payload }: ToolRequest): Promise<NodeRun | undefined> {
    const { signal, clock, settings, toolContext, announcer, elapsed } = this.#around
    const tool = this.#node.tools.get(name)!
    const startMs = elapsed()
    const span = this.#telemetry?.startTool(tool, payload)
    const turn = await takeToolTurn(tool, payload, toolContext, settings, signal, clock)
    if (turn === 'aborted') {
      span?.end('aborted')
      return this.#failed('aborted', 'The execution ended while its tool was at work.')
    }
    const { observation, seen } = turn
    const { status } = observation
    const durationMs = elapsed() - startMs
    span?.end(status === 'error' ? observation.reason : undefined, seen)
    announcer.tell({ type: 'tool-end', node: this.#node.id, tool: name, status, durationMs })
    const toolRequest = { tool: name, payload: payload ?? null }
    this.#tool = { ...toolRequest, observation: seen, startMs, durationMs }
    this.#again({ toolRequest, toolObservation: seen, mayUseTool: false })
    return undefined
  }

  #again(change: Partial<Turn>): void {
    this.#turn = { ...this.#turn, ...change, number: this.#turn.number + 1 }
  }

  #failed(status: NodeStatus, reason: string): NodeRun {
    return this.#ended(status, null, null, reason)
  }

  #ended(status: NodeStatus, analysis: string | null, answer: JsonValue, reason?: string): NodeRun {
    const { id, name, role, executor, part, granularity } = this.#node
    const tool = this.#tool
    const packet: Packet = {
      node: id,
      name,
      task: this.#around.task.id,
      role,
      executor,
      part,
      granularity,
      status,
      reason,
      analysis,
      answer,
      toolObservation: tool?.observation,
    }
    return {
      packet,
      calls: this.#calls,
      tool,
      startMs: this.#startMs,
      durationMs: this.#around.elapsed() - this.#startMs,
    }
  }
}
