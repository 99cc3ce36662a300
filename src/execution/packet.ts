import type { JsonValue } from '../library/json-value.ts'

export type NodePart = 'atomic' | 'worker' | 'aggregator' | 'finalizer' | 'direct'

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
  /** The node's place in this graph: `u0`, `u1.w2`, `u1.aggregator`, `finalizer` or `direct`. */
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
}

export function isFailure(status: NodeStatus): boolean {
  return status !== 'ok' && status !== 'null_answer'
}
