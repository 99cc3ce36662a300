import type { JsonObject, JsonValue } from '../library/json-value.ts'
import type { Budgets } from '../settings/execution.ts'
import { boundedString, boundedValue } from './length-budget.ts'
import type { Text } from './text.ts'

/** `control` is a planner, ranker or verifier of a driving organisation: it does not answer the task. */
export type NodePart = 'atomic' | 'worker' | 'aggregator' | 'finalizer' | 'direct' | 'control'

/** How a unit is realized; `worker` for the workers inside a group. */
export type Granularity = 'atomic' | 'group' | 'worker'

/**
 * `ok` and `null_answer` are results; the rest are failures of this node alone. `model_failure`: no attempt got a
 * reply. `truncated`: the output limit cut the reply off. `aborted`: the execution ended first.
 */
export type NodeStatus =
  | 'ok'
  | 'null_answer'
  | 'format_failure'
  | 'contract_violation'
  | 'truncated'
  | 'model_failure'
  | 'aborted'

/** A node's result. Only `analysis` and `answer` come from the model; the runtime sets the rest. */
export interface Packet {
  /** The node's place in the graph: `u0`, `u1.w2`, `u1.aggregator`, `finalizer` or `direct`. */
  readonly node: string
  /** The name its listeners see. It is the same in every graph that contains this part. */
  readonly name: string
  readonly task: string
  readonly role: string
  readonly executor: string
  readonly part: NodePart
  readonly granularity: Granularity
  readonly status: NodeStatus
  /** For a failure: what happened, for people to read. */
  readonly reason?: string
  /** Null for a failure. */
  readonly analysis: string | null
  readonly answer: JsonValue
  /** The tool's actual result, cut to the length budget. */
  readonly toolObservation?: JsonValue
  /** The extra fields that were asked for, as far as the reply had them. */
  readonly also?: JsonObject
}

export function isFailure(status: NodeStatus): boolean {
  return status !== 'ok' && status !== 'null_answer'
}

/**
 * The part of a packet that its successors see, as JSON text. A failure's reason is left out: it may quote a server,
 * and the status says enough.
 */
export function projectPacket(packet: Packet, budgets: Budgets): string {
  const { name, role, granularity, status, analysis, answer, toolObservation } = packet
  const seen = { id: name, role, granularity, status, analysis, answer, tool_observation: toolObservation }
  // One flat text: V8 would keep added-up parts as a tree for as long as the trace lives.
  const whole = JSON.stringify(seen)
  if (whole.length <= Math.min(budgets.analysis, budgets.answer)) return whole
  return JSON.stringify({
    ...seen,
    analysis: analysis === null ? null : JSON.parse(boundedString(analysis, budgets.analysis)),
    answer: JSON.parse(boundedValue(answer, budgets.answer)),
  })
}

/** The same message under another id, for one of several predecessors that share a name. */
export function renamed(message: string, name: string, id: string): string {
  return `{"id":"${id}"${message.slice(`{"id":"${name}"`.length)}`
}

/** Marks a message as the listener's own from an earlier round. */
export function asOwn({ key, text }: Text): Text {
  return { key: `${key}:self`, text: `${text.slice(0, -1)},"self":true}` }
}

/** The message this predecessor would have sent if its model had failed. */
export function asFailed({ key, text }: Text): Text {
  const { id, role, granularity } = JSON.parse(text) as Record<string, string>
  const failed = { id, role, granularity, status: 'model_failure', analysis: null, answer: null }
  return { key, text: JSON.stringify(failed) }
}
