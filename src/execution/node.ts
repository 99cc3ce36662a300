import type { AnswerContract } from '../library/answer-contract.ts'
import type { JsonValue } from '../library/json-value.ts'
import type { Task } from '../library/task.ts'
import { type Canary, canaryOf } from '../models/canary.ts'
import {
  type ChatAnswer,
  type ChatModel,
  type ChatRequest,
  cancelled,
  type Decoding,
  type ModelIdentity,
  requestDigest,
} from '../models/chat-model.ts'
import { withDeadline } from '../models/deadline.ts'
import { type Call, callModel, withoutAttempts } from '../models/retry.ts'
import type { ExecutionSettings } from '../settings/execution.ts'
import type { ExecutionOptions, OtherTask } from './execution.ts'
import { boundedValue } from './length-budget.ts'
import type { Memory } from './once.ts'
import { asFailed, type Packet } from './packet.ts'
import type { PlannedNode } from './plan.ts'
import {
  furtherFields,
  parseFinalResponse,
  parseNodeResponse,
  type ToolRequest,
} from './protocol/response.ts'
import { nodeRequest, type RequestTexts, type Turn } from './request.ts'
import type { Text } from './text.ts'
import { type ToolContext, toolError, useTool } from './tools/tool.ts'
import type { EventBody } from './trace/events.ts'
import type { OpenSpan } from './trace/telemetry.ts'

/** What all nodes of an execution share. */
export interface NodeContext extends Omit<ExecutionOptions, 'graph'> {
  readonly settings: ExecutionSettings
  readonly signal: AbortSignal
  readonly canary: Canary
  readonly toolContext: ToolContext
  readonly tell?: (event: EventBody) => void
  /** Monotonic milliseconds since the execution's start. */
  readonly elapsed: () => number
}

/** A node at work. */
interface NodeAtWork {
  readonly node: PlannedNode
  /** The messages of its predecessors; undefined for the direct path. */
  readonly predecessors: readonly Text[] | undefined
  readonly context: NodeContext
  readonly span: OpenSpan | undefined
}

interface Timed {
  readonly startMs: number
  readonly durationMs: number
}

export interface Asked {
  readonly call: Call
  /** The reply was stored already, or came from an identical call in flight. */
  readonly reused: boolean
}

export interface CallRecord extends Asked, Timed {
  readonly request: RequestTexts
}

export interface ToolRecord extends Timed {
  readonly tool: string
  readonly payload: JsonValue
  /** What the asking node, its successors and the trace see of it. */
  readonly observation: JsonValue
}

/** A node's result, with the calls and tool use behind it. */
export interface NodeRun extends Timed {
  readonly packet: Packet
  readonly calls: readonly CallRecord[]
  readonly tool?: ToolRecord
  /** Set if the node used a model other than the execution's own. */
  readonly model?: ModelIdentity
}

const harmlessTask: Task = {
  id: 'harmless',
  question: 'A box holds 12 pens and a shelf holds 7 boxes. How many pens are on the shelf?',
  metadata: {},
}

/**
 * Runs one node: ask, use a tool if the reply requests one, ask again. At most one tool, one repair and one concise
 * retry, so never more than four calls.
 */
export async function runNode(at: NodeAtWork): Promise<NodeRun> {
  const { node, context } = at
  const startMs = context.elapsed()
  const calls: CallRecord[] = []
  let turn = firstTurn(node)
  let tool: ToolRecord | undefined
  const ended = (result: Result): NodeRun => {
    const packet = packetOf(node, context, result, tool?.observation)
    const run = { packet, calls, tool, startMs, durationMs: context.elapsed() - startMs }
    return node.model === undefined ? run : { ...run, model: modelOf(node, context).identity }
  }
  if (context.signal.aborted) return ended(aborted('The execution ended before its turn.'))
  for (;;) {
    const call = await askNode(at, turn)
    calls.push(call)
    const { reply } = call.call
    if (!reply.ok && reply.kind === 'cancelled') return ended(aborted(reply.message))
    if (!reply.ok) return ended({ status: 'model_failure', reason: `${reply.kind}: ${reply.message}` })
    let next = judge(reply, node, turn, context.contract)
    if ('class' in next) {
      tool = await takeToolTurn(at, next)
      if (tool === undefined) return ended(aborted('The execution ended while its tool was at work.'))
      const toolRequest = { tool: tool.tool, payload: tool.payload }
      next = { again: { toolRequest, toolObservation: tool.observation, mayUseTool: false } }
    }
    if ('status' in next) return ended(next)
    turn = { ...turn, ...next.again, number: turn.number + 1 }
  }
}

/** A node's result after a programming error. */
export function brokenRun(node: PlannedNode, context: NodeContext): NodeRun {
  return uncalledRun(node, context, aborted('The execution ended by a mistake in code.'))
}

/** The result of a node that made no call: a vote, or a node that was made to fail. */
export function uncalledRun(node: PlannedNode, context: NodeContext, result: Result): NodeRun {
  const packet = packetOf(node, context, result)
  return { packet, calls: [], startMs: context.elapsed(), durationMs: 0 }
}

function packetOf(
  { id, name, role, executor, part, granularity }: PlannedNode,
  { task }: NodeContext,
  { status, reason, analysis = null, answer = null, also }: Result,
  toolObservation?: JsonValue,
): Packet {
  const packet = {
    node: id,
    name,
    task: task.id,
    role,
    executor,
    part,
    granularity,
    status,
    reason,
    analysis,
    answer,
    toolObservation,
  }
  return also === undefined ? packet : { ...packet, also }
}

function aborted(reason: string): Result {
  return { status: 'aborted', reason }
}

function firstTurn({ tools }: PlannedNode): Turn {
  return { number: 0, mayUseTool: tools.size > 0 }
}

type Result = Pick<Packet, 'status' | 'reason'> & Partial<Pick<Packet, 'analysis' | 'answer' | 'also'>>

/** Decides what follows from a reply: the node's result, a tool request, or another call. */
function judge(
  { text, finish }: ChatAnswer,
  { part, tools, read, also }: PlannedNode,
  turn: Turn,
  contract: AnswerContract,
): Result | ToolRequest | { again: Partial<Turn> } {
  // The finalizer and the direct path get no second chance.
  const isFinal = part === 'finalizer' || part === 'direct'
  const response = read?.(text) ?? (isFinal ? parseFinalResponse : parseNodeResponse)(text, contract)
  if (response.class === 'content' || response.class === 'null_answer') {
    const { class: kind, ...said } = response
    return { status: kind === 'content' ? 'ok' : kind, ...said, also: also && furtherFields(text, also) }
  }
  if (response.class === 'format_failure') {
    if (finish !== 'length') return { status: 'format_failure', reason: response.reason }
    if (!isFinal && turn.concise !== true) return { again: { concise: true } }
    return { status: 'truncated', reason: 'The reply was cut off at the output limit.' }
  }
  const isRequest = response.class === 'tool_request'
  if (isRequest && turn.mayUseTool && tools.has(response.tool)) return response
  const problem = isRequest ? problemWithTool(response, turn) : response.problem
  if (isFinal || turn.repair !== undefined) return { status: 'contract_violation', reason: problem }
  // After a repair, only content is accepted.
  return { again: { repair: { problem, previous: text }, mayUseTool: false } }
}

function problemWithTool({ tool }: ToolRequest, turn: Turn): string {
  if (turn.toolRequest !== undefined) return 'You have used your one tool: reply with content.'
  if (!turn.mayUseTool) return 'You have no tool: reply with content.'
  const named = tool.length > 60 ? `${tool.slice(0, 60).toWellFormed()}…` : tool
  return `You do not have the tool ${JSON.stringify(named)}: reply with content.`
}

async function askNode(at: NodeAtWork, turn: Turn): Promise<CallRecord> {
  const { node, predecessors, context, span } = at
  const { limit, clock, meter, allowance, settings, replies, signal, tell, elapsed } = context
  const model = modelOf(node, context)
  const canary = model === context.model ? context.canary : canaryOf(model)
  const { user, texts: request } = nodeRequest(node, predecessors, turn, context)
  const decoding = decodingOf(node, context)
  const chat = { system: request.system.text, user, decoding }
  const startMs = elapsed()
  const callSpan = span?.startCall(chat)
  const call = (until: AbortSignal) =>
    callModel(model, chat, {
      limit,
      clock,
      meter,
      allowance,
      signal: until,
      priority: node.remaining,
      attemptMs: settings.attemptSeconds * 1000,
      canary,
      ordinary: () => ordinaryRequests(at),
    })
  const ask = callSpan === undefined ? call : (until: AbortSignal) => callSpan.within(() => call(until))
  const isReusable = replies !== undefined && decoding.temperature === 0
  const digest = isReusable ? requestDigest(model.identity, chat) : undefined
  const asked =
    digest === undefined
      ? { call: await ask(signal), reused: false }
      : await askOnce(replies!, digest, signal, ask)
  const durationMs = elapsed() - startMs
  callSpan?.endCall(asked)
  const { call: made, reused } = asked
  const { reply, usage } = made
  tell?.({ type: 'call-end', node: node.id, ok: reply.ok, reused, digest, usage, durationMs })
  return { call: made, reused, request, startMs, durationMs }
}

function modelOf(node: PlannedNode, { model, models }: NodeContext): ChatModel {
  if (node.model === undefined) return model
  const other = models?.[node.model]
  if (other !== undefined) return other
  const known = Object.keys(models ?? {}).join(', ') || 'none'
  throw new Error(`The node '${node.id}' wants the model '${node.model}'; further models are: ${known}.`)
}

function decodingOf({ temperature }: PlannedNode, { settings }: NodeContext): Decoding {
  return temperature === undefined ? settings.decoding : { ...settings.decoding, temperature }
}

/**
 * Calls the model unless the reply is known. Only successful replies are kept. A reused call has no attempts and
 * costs nothing.
 */
async function askOnce(
  replies: Memory<Call>,
  digest: string,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Call>,
): Promise<Asked> {
  const make = async (until: AbortSignal) => {
    const call = await ask(until)
    return { value: call, keep: call.reply.ok }
  }
  try {
    const { value, origin } = await replies.once(digest, make, signal)
    if (origin === 'made') return { call: value, reused: false }
    return { call: withoutAttempts(value.reply), reused: true }
  } catch (error) {
    if (signal.aborted && error === signal.reason) return { call: withoutAttempts(cancelled), reused: true }
    throw error
  }
}

/**
 * The node's first request for other questions, with failed predecessors. These control requests look like any other
 * request of the run. If there are no other questions, a harmless one is used.
 */
function* ordinaryRequests({ node, predecessors, context }: NodeAtWork): Generator<ChatRequest> {
  const { others = [], contract, settings } = context
  const failed = predecessors?.map(asFailed)
  const requestAbout = (other: OtherTask): ChatRequest => {
    const { user } = nodeRequest(node, failed, firstTurn(node), { ...other, settings })
    return { system: node.system.text, user, decoding: decodingOf(node, context) }
  }
  let hasOthers = false
  for (const other of others) {
    hasOthers = true
    yield requestAbout(other)
  }
  if (!hasOthers) yield requestAbout({ task: harmlessTask, contract })
}

/** Runs a tool on a model's payload, within the time limit and the length budget. Undefined if the execution ended. */
async function takeToolTurn(
  { node, context, span }: NodeAtWork,
  { tool: name, payload }: ToolRequest,
): Promise<ToolRecord | undefined> {
  const { settings, toolContext, signal, clock, tell, elapsed } = context
  const { toolSeconds, budgets } = settings
  const tool = node.tools.get(name)!
  const startMs = elapsed()
  const toolSpan = span?.startTool(tool, payload)
  const work = (until: AbortSignal) => useTool(tool, payload, toolContext, until)
  const used =
    payload === undefined
      ? toolError('bad_payload', 'The payload is nested too deeply.')
      : await withDeadline(toolSeconds * 1000, signal, work, clock)
  if (used === 'aborted') {
    toolSpan?.end('aborted')
    return undefined
  }
  const observed =
    used === 'timeout' ? toolError('unavailable', `The tool gave no result within ${toolSeconds} s.`) : used
  // A result may hold values that JSON cannot express; keep only what would be sent.
  const json = JSON.parse(JSON.stringify({ tool: name, ...observed })) as JsonValue
  const observation = JSON.parse(boundedValue(json, budgets.observation)) as JsonValue
  const durationMs = elapsed() - startMs
  toolSpan?.endTool(observed.status === 'error' ? observed.reason : undefined, observation)
  tell?.({ type: 'tool-end', node: node.id, tool: name, status: observed.status, durationMs })
  return { tool: name, payload: payload ?? null, observation, startMs, durationMs }
}
