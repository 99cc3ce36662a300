import type { AgentGraph } from '../../graph/agent-graph.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { ChatReply, ModelIdentity } from '../../models/chat-model.ts'
import type { FailureKind } from '../../models/failure.ts'
import type { Cost } from '../../models/prices.ts'
import type { Usage } from '../../models/usage.ts'
import type { Execution, ExecutionOptions } from '../execution.ts'
import { boundedText, boundedValue } from '../length-budget.ts'
import type { CallRecord, NodeRun, ToolRecord } from '../node.ts'
import type { NodePart, NodeStatus } from '../packet.ts'
import { userMessage } from '../request.ts'
import type { Text } from '../text.ts'
import type { ExecutionStatus } from './events.ts'

/**
 * The record of an execution, ready for `JSON.stringify`. Texts that several requests share stand once, in `texts`.
 * Durations and starts are monotonic milliseconds, starts from that of the execution.
 */
export interface Trace {
  readonly version: 1
  readonly execution: string
  /** ISO 8601, by the wall clock. */
  readonly startedAt: string
  readonly durationMs: number
  readonly status: ExecutionStatus
  readonly answer?: JsonValue
  /** Why the execution was stopped. */
  readonly stop?: string
  readonly task: string
  readonly graph: ReturnType<AgentGraph['toJSON']>
  /** Fingerprint. */
  readonly library: string
  readonly contract: string
  readonly model: ModelIdentity
  readonly nodes: readonly TracedNode[]
  readonly usage: Usage
  /** What identical requests saved. */
  readonly reused: Usage
  readonly cost: Cost
  /** By digest, or for messages and later turns by their node. Empty when content is not kept. */
  readonly texts: Readonly<Record<string, string>>
}

export interface TracedNode {
  readonly node: string
  readonly name: string
  readonly role: string
  readonly executor: string
  readonly part: NodePart
  readonly status: NodeStatus
  readonly reason?: string
  readonly startMs: number
  readonly durationMs: number
  readonly calls: readonly TracedCall[]
  readonly tool?: TracedTool
}

/** Keys of `texts`; `tracedRequest` puts them together again. */
export interface TracedRequest {
  readonly system: string
  readonly opening: readonly string[]
  readonly predecessors?: readonly string[]
  readonly closing: readonly string[]
}

export interface TracedCall {
  readonly request: TracedRequest
  /** The reply's text. */
  readonly reply?: string
  /** Why there is none. Attempts do not tell: another execution may have made them. */
  readonly failure?: FailureKind
  /** The outcome of an identical request was used. */
  readonly reused?: true
  readonly startMs: number
  readonly durationMs: number
  readonly attempts: readonly TracedAttempt[]
}

/** A reply without its text. */
export type TracedAttempt = { readonly startedAt: number } & (
  | Omit<Extract<ChatReply, { ok: true }>, 'text'>
  | Extract<ChatReply, { ok: false }>
)

export interface TracedTool {
  readonly tool: string
  readonly payload?: JsonValue
  readonly observation?: JsonValue
  readonly startMs: number
  readonly durationMs: number
}

/** A model may reply with megabytes; a trace need not keep them. */
const longestReply = 64_000

/** Keeps a text for the trace and returns its key. */
type Keep = (text: Text) => string

/** The record of an execution that has ended. Without `content` it holds no text of tasks, models or tools. */
export function traceOf(
  { id, status, answer, stop, durationMs, usage, reused, cost }: Omit<Execution, 'trace'>,
  { task, graph, library, contract, model }: ExecutionOptions,
  runs: readonly NodeRun[],
  startedAt: Date,
  content: boolean,
): Trace {
  const texts: Record<string, string> = {}
  const keep = ({ key, text }: Text): string => {
    if (content) texts[key] = text
    return key
  }
  return {
    version: 1,
    execution: id,
    startedAt: startedAt.toISOString(),
    durationMs: rounded(durationMs),
    status,
    answer: answer === undefined || !content ? undefined : tracedValue(answer),
    stop: stop && `${stop.kind}: ${stop.message}`,
    task: task.id,
    graph: graph.toJSON(),
    library: library.fingerprint,
    contract: contract.name,
    model: model.identity,
    nodes: runs.map((run) => traceNode(run, keep, content)),
    texts,
    usage,
    reused,
    cost,
  }
}

function traceNode(run: NodeRun, keep: Keep, content: boolean): TracedNode {
  const { packet, calls, tool, startMs, durationMs } = run
  const { node, name, role, executor, part, status, reason } = packet
  return {
    node,
    name,
    role,
    executor,
    part,
    status,
    reason,
    startMs: rounded(startMs),
    durationMs: rounded(durationMs),
    calls: calls.map((call) => traceCall(call, keep, content)),
    tool: tool && traceTool(tool, content),
  }
}

function traceCall(record: CallRecord, keep: Keep, content: boolean): TracedCall {
  const { request, call, reused, startMs, durationMs } = record
  const { reply, attempts } = call
  return {
    request: {
      system: keep(request.system),
      opening: request.opening.map(keep),
      predecessors: request.predecessors?.map(keep),
      closing: request.closing.map(keep),
    },
    reply: reply.ok && content ? boundedText(reply.text, longestReply) : undefined,
    failure: reply.ok ? undefined : reply.kind,
    reused: reused || undefined,
    startMs: rounded(startMs),
    durationMs: rounded(durationMs),
    attempts: attempts.map(({ reply: said, startedAt }) => {
      const durationMs = rounded(said.durationMs)
      if (!said.ok) return { startedAt, ...said, durationMs }
      const { ok, finish, usage, warnings, servedModel } = said
      return { startedAt, ok, finish, usage, warnings, servedModel, durationMs }
    }),
  }
}

function traceTool(
  { tool, payload, observation, startMs, durationMs }: ToolRecord,
  content: boolean,
): TracedTool {
  const times = { startMs: rounded(startMs), durationMs: rounded(durationMs) }
  if (!content) return { tool, ...times }
  return { tool, payload: tracedValue(payload), observation, ...times }
}

/** A model's value as a trace keeps it: whole, unless it is absurdly long. */
function tracedValue(value: JsonValue): JsonValue {
  return JSON.parse(boundedValue(value, longestReply))
}

/** To the microsecond; what a clock adds to that is noise. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}

/** The request of a call as it was sent. */
export function tracedRequest(
  trace: Pick<Trace, 'texts'>,
  { request }: TracedCall,
): { system: string; user: string } {
  const read = (keys: readonly string[]): Text[] => keys.map((key) => ({ key, text: trace.texts[key]! }))
  const { system, opening, predecessors, closing } = request
  const user = userMessage({
    opening: read(opening),
    predecessors: predecessors && read(predecessors),
    closing: read(closing),
  })
  return { system: trace.texts[system]!, user }
}
