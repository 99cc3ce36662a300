import type { JsonObject, JsonValue } from '../library/json-value.ts'
import type { Budgets } from '../settings/execution.ts'
import { boundedString, boundedValue } from './length-budget.ts'
import type { Text } from './text.ts'

/** `control` is for planners, rankers and verifiers of an organisation that drives: they do not answer the task. */
export type NodePart = 'atomic' | 'worker' | 'aggregator' | 'finalizer' | 'direct' | 'control'

/** How a unit is realized; inside a group, a worker speaks as a worker. */
export type Granularity = 'atomic' | 'group' | 'worker'

/**
 * `ok` and `null_answer` are results, the others failures of this node alone: `model_failure` means that no attempt got an
 * answer, `truncated` that the output limit cut it off, `aborted` that the execution ended first.
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
  /** The node's place in this graph: `u0`, `u1.w2`, `u1.aggregator`, `finalizer` or `direct`. A driven one's: `u0`, `u1`, … */
  readonly node: string
  /** The name under which others hear of it, the same in every graph that has this part. */
  readonly name: string
  readonly task: string
  readonly role: string
  readonly executor: string
  readonly part: NodePart
  readonly granularity: Granularity
  readonly status: NodeStatus
  /** For a failure: what happened, for a person. */
  readonly reason?: string
  /** Null for a failure. */
  readonly analysis: string | null
  readonly answer: JsonValue
  /** What its tool really gave, within the length budget. */
  readonly toolObservation?: JsonValue
  /** Fields that it was asked for beside analysis and answer, as far as they were there. */
  readonly also?: JsonObject
}

export function isFailure(status: NodeStatus): boolean {
  return status !== 'ok' && status !== 'null_answer'
}

/**
 * What of a packet reaches its successors, as JSON text. The reason of a failure stays behind: it may quote a server, and
 * the status says enough.
 */
export function projectPacket(packet: Packet, budgets: Budgets): string {
  const { name, role, granularity, status, analysis, answer, toolObservation } = packet
  const said =
    `{"id":"${name}","role":"${role}","granularity":"${granularity}","status":"${status}"` +
    `,"analysis":${analysis === null ? 'null' : boundedString(analysis, budgets.analysis)}` +
    `,"answer":${answer === null ? 'null' : boundedValue(answer, budgets.answer)}`
  return toolObservation === undefined
    ? `${said}}`
    : `${said},"tool_observation":${JSON.stringify(toolObservation)}}`
}

/** The same message under another id, for one of several predecessors that share a name. */
export function renamed(message: string, name: string, id: string): string {
  return `{"id":"${id}"${message.slice(`{"id":"${name}"`.length)}`
}

/** The message as its own speaker hears it in the next round. */
export function asOwn({ key, text }: Text): Text {
  return { key: `${key}:self`, text: `${text.slice(0, -1)},"self":true}` }
}

/** The message that the same predecessor would have sent had its model failed. */
export function asFailed({ key, text }: Text): Text {
  const { id, role, granularity } = JSON.parse(text) as Record<string, string>
  const failed = { id, role, granularity, status: 'model_failure', analysis: null, answer: null }
  return { key, text: JSON.stringify(failed) }
}
