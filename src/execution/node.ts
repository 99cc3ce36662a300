import type { AnswerContract } from '../library/answer-contract.ts'
import type { JsonObject, JsonValue } from '../library/json-value.ts'
import type { Task } from '../library/task.ts'
import { type ExecutionClock, withDeadline } from './deadline.ts'
import type { Announcer } from './events.ts'
import { boundedValue } from './length-budget.ts'
import type { CallLimit } from './models/call-limit.ts'
import { type ChatAnswer, type ChatModel, type ChatRequest, requestDigest } from './models/chat-model.ts'
import { callModel } from './models/retry.ts'
import type { NodeStatus, Packet } from './packet.ts'
import type { PlannedNode } from './plan.ts'
import { parseFinalResponse, parseNodeResponse, type ToolRequest } from './protocol/response.ts'
import { type NodeRequest, type Turn, turnText, userMessage, withinBudget } from './request.ts'
import { type Asked, askOnce, type RequestCache } from './request-cache.ts'
import type { ExecutionSettings } from './settings.ts'
import type { Tally } from './tally.ts'
import type { NodeTelemetry } from './telemetry.ts'
import type { Text } from './text.ts'
import { type ToolContext, type ToolObservation, toolError, useTool } from './tools/tool.ts'

/** What all nodes of an execution share. */
export interface NodeSurroundings {
  readonly task: Task
  readonly contract: AnswerContract
  readonly settings: ExecutionSettings
  readonly taskText: Text
  readonly requirementText: Text
  readonly model: ChatModel
  readonly limit: CallLimit
  readonly clock: ExecutionClock
  readonly signal: AbortSignal
  readonly toolContext: ToolContext
  readonly cache: RequestCache | undefined
  readonly tally: Tally
  readonly announcer: Announcer
  /** Monotonic milliseconds since the execution's start. */
  readonly elapsed: () => number
}

export interface CallRecord extends Asked {
  readonly request: Omit<NodeRequest, 'user'>
  readonly startMs: number
  readonly durationMs: number
}

export interface ToolRecord {
  readonly tool: string
  readonly payload: JsonValue
  readonly observation: JsonValue
  readonly startMs: number
  readonly durationMs: number
}

/** A node's result and how it came about. */
export interface NodeRun {
  readonly packet: Packet
  readonly calls: readonly CallRecord[]
  readonly tool?: ToolRecord
  readonly startMs: number
  readonly durationMs: number
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
  readonly #calls: CallRecord[] = []
  readonly #startMs: number
  /** The finalizer and the direct path get no second chance. */
  readonly #isFinal: boolean
  #turn: Turn = {}
  #mayUseTool: boolean
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
    this.#mayUseTool = node.toolsText !== undefined
  }

  async run(): Promise<NodeRun> {
    for (;;) {
      const { reply } = (await this.#ask()).call
      if (!reply.ok) {
        if (reply.kind === 'cancelled') return this.#failed('aborted', reply.message)
        return this.#failed('model_failure', `${reply.kind}: ${reply.message}`)
      }
      const ended = await this.#read(reply)
      if (ended !== undefined) return ended
    }
  }

  /** What to record of a node whose run was thrown out of its course. */
  givenUp(): NodeRun {
    return this.#failed('aborted', 'The execution ended by a mistake in code.')
  }

  /** The node's result, or nothing when it is to be asked again. */
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
        return this.#mayUseTool && this.#node.tools.has(response.tool)
          ? await this.#useTool(response)
          : this.#refuse(reply, this.#problemWithTool(response))
    }
  }

  /** One concise retry for an intermediate node. */
  #cutOff(): NodeRun | undefined {
    if (this.#isFinal || this.#turn.concise === true)
      return this.#failed('truncated', 'The reply was cut off at the output limit.')
    this.#turn = { ...this.#turn, concise: true }
    return undefined
  }

  /** One repair for an intermediate node; from then on it must give content. */
  #refuse(reply: ChatAnswer, problem: string): NodeRun | undefined {
    if (this.#isFinal || this.#turn.repair !== undefined) return this.#failed('contract_violation', problem)
    this.#turn = { ...this.#turn, repair: { problem, previous: reply.text } }
    this.#mayUseTool = false
    return undefined
  }

  #problemWithTool({ tool }: ToolRequest): string {
    if (this.#tool !== undefined) return 'You have used your one tool: reply with content.'
    const named = JSON.stringify(tool.length > 60 ? `${tool.slice(0, 60).toWellFormed()}…` : tool)
    return this.#mayUseTool
      ? `You do not have the tool ${named}: reply with content.`
      : 'You have no tool now: reply with content.'
  }

  async #useTool({ tool: name, payload }: ToolRequest): Promise<NodeRun | undefined> {
    const { signal, clock, settings, toolContext, announcer, elapsed } = this.#around
    const tool = this.#node.tools.get(name)!
    const startMs = elapsed()
    const span = this.#telemetry?.startTool(tool, payload)
    let observation: ToolObservation
    if (payload === undefined) observation = toolError('bad_payload', 'The payload is nested too deeply.')
    else {
      const work = (until: AbortSignal) => useTool(tool, payload, toolContext, until)
      const used = await withDeadline(settings.toolSeconds * 1000, signal, work, clock)
      if (used === 'aborted') {
        span?.end('aborted')
        return this.#failed('aborted', 'The execution ended while its tool was at work.')
      }
      observation =
        used === 'timeout'
          ? toolError('unavailable', `The tool gave no result within ${settings.toolSeconds} s.`)
          : used
    }
    const seen = this.#observed(name, observation)
    const durationMs = elapsed() - startMs
    span?.end(observation.status === 'error' ? observation.reason : undefined, seen)
    const toolRequest = { tool: name, payload: payload ?? null }
    this.#tool = { ...toolRequest, observation: seen, startMs, durationMs }
    this.#turn = { ...this.#turn, toolRequest, toolObservation: seen }
    this.#mayUseTool = false
    announcer.tell({
      type: 'tool-end',
      node: this.#node.id,
      tool: name,
      status: observation.status,
      durationMs,
    })
    return undefined
  }

  /** What the model, its successors and the trace see of an observation, within its budget. */
  #observed(tool: string, observation: ToolObservation): JsonValue {
    // A tool may put into its result what JSON has no word for; what counts is what would be sent.
    const json = JSON.parse(JSON.stringify({ tool, ...observation })) as JsonObject
    return JSON.parse(boundedValue(json, this.#around.settings.budgets.observation)) as JsonValue
  }

  async #ask(): Promise<Asked> {
    const { model, limit, clock, signal, settings, cache, tally, announcer, elapsed } = this.#around
    const request = this.#request()
    const chat: ChatRequest = {
      system: request.system.text,
      user: request.user,
      decoding: settings.decoding,
    }
    const startMs = elapsed()
    const span = this.#telemetry?.startCall(chat)
    const make = () => callModel(model, chat, { limit, priority: this.#node.remaining, signal, clock })
    const ask = span === undefined ? make : () => span.within(make)
    const asked =
      cache === undefined
        ? { call: await ask(), reused: false }
        : await askOnce(cache, requestDigest(model.identity, chat), signal, ask)
    const durationMs = elapsed() - startMs
    tally.add(asked.call, asked.reused)
    span?.end(asked)
    const { system, opening, predecessors, closing } = request
    this.#calls.push({
      ...asked,
      request: { system, opening, closing, ...(predecessors === undefined ? {} : { predecessors }) },
      startMs,
      durationMs,
    })
    if (announcer.listening)
      announcer.tell({
        type: 'call-end',
        node: this.#node.id,
        ok: asked.call.reply.ok,
        reused: asked.reused,
        usage: asked.call.usage,
        durationMs,
      })
    return asked
  }

  #request(): NodeRequest {
    const { taskText, requirementText, settings } = this.#around
    const { id, system, head, toolsText } = this.#node
    const number = this.#calls.length
    const closing: Text[] = []
    if (this.#mayUseTool && toolsText !== undefined) closing.push(toolsText)
    if (number > 0) closing.push(turnText(this.#turn, `${id}:${number}`, settings.budgets))
    const parts = {
      opening: [head, taskText, requirementText],
      ...(this.#predecessors === undefined ? {} : { predecessors: this.#predecessors }),
      closing,
    }
    const user = userMessage(parts)
    const fixed = closing[0] === toolsText && toolsText !== undefined ? [toolsText] : []
    const shorter = withinBudget(user, [head, requirementText, ...fixed], settings.budgets)
    if (shorter === undefined) return { system, ...parts, user }
    const opening = [{ key: `${id}:${number}:request`, text: shorter.slice(0, -1) }]
    return { system, opening, closing: [], user: shorter }
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
      ...(reason === undefined ? {} : { reason }),
      analysis,
      answer,
      ...(tool === undefined ? {} : { toolObservation: tool.observation }),
    }
    return {
      packet,
      calls: this.#calls,
      ...(tool === undefined ? {} : { tool }),
      startMs: this.#startMs,
      durationMs: this.#around.elapsed() - this.#startMs,
    }
  }
}
