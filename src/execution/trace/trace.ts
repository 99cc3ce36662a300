import { hash } from 'node:crypto'
import type { JsonValue } from '../../library/json-value.ts'
import type { Task } from '../../library/task.ts'
import type { ChatReply } from '../../models/chat-model.ts'
import type { Execution, ExecutionOptions } from '../execution.ts'
import { boundedText, boundedValue } from '../length-budget.ts'
import type { CallRecord, NodeRun, ToolRecord } from '../node.ts'
import { type RequestTexts, userMessage } from '../request.ts'
import type { Text } from '../text.ts'

/**
 * The record of an execution, ready for `JSON.stringify`. Texts that requests share are stored once, in `texts`.
 * Times are monotonic milliseconds; starts count from the start of the execution.
 */
export type Trace = ReturnType<typeof traceOf>
export type TracedNode = ReturnType<typeof traceNode>
type TracedCall = ReturnType<typeof traceCall>

/** Models may reply with megabytes; a trace does not keep them. */
const longestReply = 64_000

/** Stores a text in the trace and returns its key. */
type Keep = (text: Text) => string

/** The record of an ended execution. Without `content`, it contains no text of tasks, models or tools. */
export function traceOf(
  { id, status, graph, notes, answer, stop, durationMs, usage, reused, cost }: Omit<Execution, 'trace'>,
  { task, library, contract, model }: Omit<ExecutionOptions, 'graph'>,
  runs: readonly NodeRun[],
  startedAt: Date,
  content: boolean,
) {
  /** Keyed by digest, or by node for messages and later turns. Empty without `content`. */
  const texts: Record<string, string> = {}
  const keep = ({ key, text }: Text): string => {
    if (content) texts[key] = text
    return key
  }
  return {
    version: 1 as const,
    execution: id,
    startedAt: startedAt.toISOString(),
    durationMs: rounded(durationMs),
    status,
    answer: answer === undefined || !content ? undefined : tracedValue(answer),
    stop: stop && `${stop.kind}: ${stop.message}`,
    task: content ? task.id : idWithoutText(task),
    graph: graph.toJSON(),
    ...(content && notes !== undefined && { notes }),
    /** The library's fingerprint. */
    library: library.fingerprint,
    contract: contract.name,
    model: model.identity,
    nodes: runs.map((run) => traceNode(run, keep, content)),
    texts,
    usage,
    /** What reuse of identical requests saved. */
    reused,
    cost,
  }
}

/** A task's id, without revealing its text: a question asked without an id is its own id. */
export function idWithoutText({ id, question }: Task): string {
  return id === question ? `sha256:${hash('sha256', question, 'hex').slice(0, 16)}` : id
}

function traceNode(run: NodeRun, keep: Keep, content: boolean) {
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

function traceCall(record: CallRecord, keep: Keep, content: boolean) {
  const { request, reused, startMs, durationMs } = record
  const { reply, attempts } = record.call
  return {
    /** Keys of `texts`; `tracedRequest` rebuilds the request. */
    request: {
      system: keep(request.system),
      opening: request.opening.map(keep),
      predecessors: request.predecessors?.map(keep),
      closing: request.closing.map(keep),
    },
    reply: reply.ok && content ? boundedText(reply.text, longestReply) : undefined,
    /** Why there is no reply. `attempts` may be empty if another execution made them. */
    failure: reply.ok ? undefined : reply.kind,
    reused: reused || undefined,
    startMs: rounded(startMs),
    durationMs: rounded(durationMs),
    attempts: attempts.map(({ reply: said, startedAt }) => traceReply(said, startedAt)),
  }
}

/** A reply without its text. */
function traceReply(reply: ChatReply, startedAt: number) {
  const durationMs = rounded(reply.durationMs)
  if (!reply.ok) return { startedAt, ...reply, durationMs }
  const { ok, finish, usage, warnings, servedModel } = reply
  return { startedAt, ok, finish, usage, warnings, servedModel, durationMs }
}

function traceTool({ tool, payload, observation, startMs, durationMs }: ToolRecord, content: boolean) {
  return {
    tool,
    payload: content ? tracedValue(payload) : undefined,
    observation: content ? observation : undefined,
    startMs: rounded(startMs),
    durationMs: rounded(durationMs),
  }
}

/** A model's value as the trace stores it: whole, unless it is absurdly long. */
function tracedValue(value: JsonValue): JsonValue {
  return JSON.parse(boundedValue(value, longestReply))
}

/** To the microsecond; anything finer is noise. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}

/** Rebuilds a call's request as it was sent. */
export function tracedRequest(
  { texts }: Pick<Trace, 'texts'>,
  { request }: Pick<TracedCall, 'request'>,
): { system: string; user: string } {
  const read = (key: string): Text => ({ key, text: texts[key]! })
  const { system, opening, predecessors, closing } = request
  const parts: Omit<RequestTexts, 'system'> = {
    opening: opening.map(read),
    predecessors: predecessors?.map(read),
    closing: closing.map(read),
  }
  return { system: texts[system]!, user: userMessage(parts) }
}
