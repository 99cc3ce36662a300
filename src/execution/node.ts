import type { JsonValue } from '../library/json-value.ts'
import type { Task } from '../library/task.ts'
import { canaryOf } from '../models/canary.ts'
import { type ChatAnswer, type ChatRequest, cancelled, requestDigest } from '../models/chat-model.ts'
import { withDeadline } from '../models/deadline.ts'
import { type Call, callModel, withoutAttempts } from '../models/retry.ts'
import type { ExecutionSettings } from '../settings/execution.ts'
import type { ExecutionOptions, Question } from './execution.ts'
import { boundedValue } from './length-budget.ts'
import { asFailed, type NodeStatus, type Packet } from './packet.ts'
import type { PlannedNode } from './plan.ts'
import { parseFinalResponse, parseNodeResponse, type ToolRequest } from './protocol/response.ts'
import { nodeRequest, type RequestTexts, type Turn } from './request.ts'
import type { Text } from './text.ts'
import { type ToolContext, type ToolObservation, toolError, useTool } from './tools/tool.ts'
import type { EventBody } from './trace/events.ts'
import type { OpenSpan } from './trace/telemetry.ts'

/** What all nodes of an execution share. */
export interface NodeSurroundings extends ExecutionOptions {
  readonly settings: ExecutionSettings
  readonly signal: AbortSignal
  readonly toolContext: ToolContext
  readonly tell: (event: EventBody) => void
  /** Monotonic milliseconds since the execution's start. */
  readonly elapsed: () => number
}

interface Timed {
  readonly startMs: number
  readonly durationMs: number
}

export interface Asked {
  readonly call: Call
  /** The answer was there already, or somebody else's identical call brought it. */
  readonly reused: boolean
}

export interface CallRecord extends Asked, Timed {
  readonly request: RequestTexts
}

export interface ToolRecord extends Timed {
  readonly tool: string
  readonly payload: JsonValue
  /** What is seen of it by the node that asked, its successors and the trace. */
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
  readonly #span: OpenSpan | undefined
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
    span: OpenSpan | undefined,
  ) {
    this.#node = node
    this.#predecessors = predecessors
    this.#around = around
    this.#span = span
    this.#startMs = around.elapsed()
    this.#isFinal = node.part === 'finalizer' || node.part === 'direct'
    this.#turn = firstTurn(node)
  }

  async run(): Promise<NodeRun> {
    if (this.#around.signal.aborted) return this.ended('aborted', 'The execution ended before its turn.')
    for (;;) {
      const { reply } = (await this.#ask()).call
      if (!reply.ok && reply.kind === 'cancelled') return this.ended('aborted', reply.message)
      if (!reply.ok) return this.ended('model_failure', `${reply.kind}: ${reply.message}`)
      const ended = await this.#read(reply)
      if (ended !== undefined) return ended
    }
  }

  async #ask(): Promise<Asked> {
    const { model, settings, replies, tell, elapsed } = this.#around
    const { user, texts: request } = nodeRequest(this.#node, this.#predecessors, this.#turn, this.#around)
    const chat = { system: request.system.text, user, decoding: settings.decoding }
    const startMs = elapsed()
    const span = this.#span?.startCall(chat)
    const digest =
      replies === undefined || settings.decoding.temperature > 0
        ? undefined
        : requestDigest(model.identity, chat)
    const call = (signal: AbortSignal) => this.#call(chat, signal)
    const asked = await this.#once(
      digest,
      span === undefined ? call : (until) => span.within(() => call(until)),
    )
    const durationMs = elapsed() - startMs
    span?.endCall(asked)
    this.#calls.push({ ...asked, request, startMs, durationMs })
    const { reused } = asked
    const { reply, usage } = asked.call
    tell({ type: 'call-end', node: this.#node.id, ok: reply.ok, reused, digest, usage, durationMs })
    return asked
  }

  #call(chat: ChatRequest, signal: AbortSignal): Promise<Call> {
    const { model, limit, clock, meter, settings } = this.#around
    return callModel(model, chat, {
      ...{ limit, clock, meter, signal },
      priority: this.#node.remaining,
      attemptMs: settings.attemptSeconds * 1000,
      canary: canaryOf(model),
      ordinary: { [Symbol.iterator]: () => this.#ordinaryRequests() },
    })
  }

  /** Asks unless the answer is known. Only answers are kept; a call that is reused has no attempts and cost nothing. */
  async #once(digest: string | undefined, ask: (signal: AbortSignal) => Promise<Call>): Promise<Asked> {
    const { replies, signal } = this.#around
    if (digest === undefined) return { call: await ask(signal), reused: false }
    const make = async (until: AbortSignal) => {
      const call = await ask(until)
      return { value: call, keep: call.reply.ok }
    }
    try {
      const { value, origin } = await replies!.once(digest, make, signal)
      if (origin === 'made') return { call: value, reused: false }
      return { call: withoutAttempts(value.reply), reused: true }
    } catch (error) {
      if (signal.aborted && error === signal.reason) return { call: withoutAttempts(cancelled), reused: true }
      throw error
    }
  }

  /**
   * What this node would ask first about other questions if its predecessors had failed: nothing sets these requests apart
   * from those of a run. Without other questions there is one that no endpoint objects to.
   */
  *#ordinaryRequests(): Generator<ChatRequest> {
    const { others = [], contract, settings } = this.#around
    const predecessors = this.#predecessors?.map(asFailed)
    const requestAbout = (question: Question): ChatRequest => {
      const { user } = nodeRequest(this.#node, predecessors, firstTurn(this.#node), { ...question, settings })
      return { system: this.#node.system.text, user, decoding: settings.decoding }
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
        return this.ended('ok', undefined, response)
      case 'null_answer':
        return this.ended('null_answer', undefined, { ...response, answer: null })
      case 'format_failure':
        return reply.finish === 'length' ? this.#cutOff() : this.ended('format_failure', response.reason)
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
      return this.ended('truncated', 'The reply was cut off at the output limit.')
    return this.#again({ concise: true })
  }

  /** One repair for an intermediate node, which must then give content. */
  #refuse({ text }: ChatAnswer, problem: string): NodeRun | undefined {
    if (this.#isFinal || this.#turn.repair !== undefined) return this.ended('contract_violation', problem)
    return this.#again({ repair: { problem, previous: text }, mayUseTool: false })
  }

  #problemWithTool({ tool }: ToolRequest): string {
    if (this.#tool !== undefined) return 'You have used your one tool: reply with content.'
    if (!this.#turn.mayUseTool) return 'You have no tool: reply with content.'
    const named = tool.length > 60 ? `${tool.slice(0, 60).toWellFormed()}…` : tool
    return `You do not have the tool ${JSON.stringify(named)}: reply with content.`
  }

  /** Runs a tool on a model's payload, within the time limit and the length budget. */
  async #useTool({ tool: name, payload }: ToolRequest): Promise<NodeRun | undefined> {
    const { settings, tell, elapsed } = this.#around
    const startMs = elapsed()
    const span = this.#span?.startTool(this.#node.tools.get(name)!, payload)
    const observation = await this.#observe(name, payload)
    if (observation === 'aborted') {
      span?.end('aborted')
      return this.ended('aborted', 'The execution ended while its tool was at work.')
    }
    // A tool's result may hold values that JSON cannot express; keep what would be sent.
    const json = JSON.parse(JSON.stringify({ tool: name, ...observation })) as JsonValue
    const seen = JSON.parse(boundedValue(json, settings.budgets.observation)) as JsonValue
    const { status } = observation
    const durationMs = elapsed() - startMs
    span?.endTool(status === 'error' ? observation.reason : undefined, seen)
    tell({ type: 'tool-end', node: this.#node.id, tool: name, status, durationMs })
    const toolRequest = { tool: name, payload: payload ?? null }
    this.#tool = { ...toolRequest, observation: seen, startMs, durationMs }
    return this.#again({ toolRequest, toolObservation: seen, mayUseTool: false })
  }

  async #observe(name: string, payload: ToolRequest['payload']): Promise<ToolObservation | 'aborted'> {
    const { settings, toolContext, signal, clock } = this.#around
    const { toolSeconds } = settings
    if (payload === undefined) return toolError('bad_payload', 'The payload is nested too deeply.')
    const work = (until: AbortSignal) => useTool(this.#node.tools.get(name)!, payload, toolContext, until)
    const used = await withDeadline(toolSeconds * 1000, signal, work, clock)
    return used === 'timeout'
      ? toolError('unavailable', `The tool gave no result within ${toolSeconds} s.`)
      : used
  }

  #again(change: Partial<Turn>): undefined {
    this.#turn = { ...this.#turn, ...change, number: this.#turn.number + 1 }
  }

  /** What to record of the node; a failure without content. */
  ended(status: NodeStatus, reason?: string, said?: Pick<Packet, 'analysis' | 'answer'>): NodeRun {
    const { id: node, name, role, executor, part, granularity } = this.#node
    const tool = this.#tool
    const packet: Packet = {
      ...{ node, name, task: this.#around.task.id, role, executor, part, granularity, status, reason },
      analysis: said?.analysis ?? null,
      answer: said?.answer ?? null,
      toolObservation: tool?.observation,
    }
    const startMs = this.#startMs
    return { packet, calls: this.#calls, tool, startMs, durationMs: this.#around.elapsed() - startMs }
  }
}

function firstTurn({ tools }: PlannedNode): Turn {
  return { number: 0, mayUseTool: tools.size > 0 }
}
