import type { JsonValue } from '../../library/json-value.ts'
import type { Cost } from '../../models/prices.ts'
import type { Usage } from '../../models/usage.ts'
import type { NodeStatus, Packet } from '../packet.ts'
import type { ToolObservation } from '../tools/tool.ts'

/** Events of an execution, for live views. Apart from the answer, they contain no text of tasks, models or tools. */
export type ExecutionEvent = Readonly<{ execution: string } & EventBody>

export type EventBody =
  | { type: 'execution-start'; task: string; nodes: readonly AnnouncedNode[] }
  | { type: 'node-start'; node: string }
  /** `digest` identifies the request, if replies are being reused. */
  | {
      type: 'call-end'
      node: string
      ok: boolean
      reused: boolean
      digest?: string
      usage: Usage
      durationMs: number
    }
  | { type: 'tool-end'; node: string; tool: string; status: ToolObservation['status']; durationMs: number }
  | { type: 'node-end'; node: string; status: NodeStatus; reason?: string; durationMs: number }
  | {
      type: 'execution-end'
      status: ExecutionStatus
      answer?: JsonValue
      usage: Usage
      cost: Cost
      durationMs: number
    }

interface AnnouncedNode extends Pick<Packet, 'node' | 'role' | 'executor' | 'part'> {
  readonly predecessors: readonly string[]
}

/**
 * `unanswered`: it ran to the end without a valid answer. `stopped`: the model refused (key, money, permission) or is
 * gone, so that no further call can succeed.
 */
export type ExecutionStatus = 'answered' | 'unanswered' | 'stopped' | 'timed_out' | 'aborted'

/**
 * Passes one execution's events to a listener. A listener that throws is dropped: a bug in a view must not affect the
 * execution.
 */
export function announcer(
  execution: string,
  listener: (event: ExecutionEvent) => void,
): (event: EventBody) => void {
  let current: typeof listener | undefined = listener
  return (event) => {
    try {
      current?.({ execution, ...event })
    } catch (error) {
      current = undefined
      process.emitWarning(`A listener to execution events failed and was dropped: ${String(error)}`)
    }
  }
}
