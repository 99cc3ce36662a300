import type { JsonValue } from '../../library/json-value.ts'
import type { Cost } from '../../models/prices.ts'
import type { Usage } from '../../models/usage.ts'
import type { NodePart, NodeStatus } from '../packet.ts'
import type { ToolObservation } from '../tools/tool.ts'

/** Events of an execution, for a live view. They hold no text of tasks, models or tools except the answer. */
export type ExecutionEvent = { readonly execution: string } & (
  | { readonly type: 'execution-start'; readonly task: string; readonly nodes: readonly AnnouncedNode[] }
  | { readonly type: 'node-start'; readonly node: string }
  | {
      readonly type: 'call-end'
      readonly node: string
      readonly ok: boolean
      readonly reused: boolean
      /** The request's, where a cache is in use. */
      readonly digest?: string
      readonly usage: Usage
      readonly durationMs: number
    }
  | {
      readonly type: 'tool-end'
      readonly node: string
      readonly tool: string
      readonly status: ToolObservation['status']
      readonly durationMs: number
    }
  | {
      readonly type: 'node-end'
      readonly node: string
      readonly status: NodeStatus
      readonly reason?: string
      readonly durationMs: number
    }
  | {
      readonly type: 'execution-end'
      readonly status: ExecutionStatus
      readonly answer?: JsonValue
      readonly usage: Usage
      readonly cost: Cost
      readonly durationMs: number
    }
)

interface AnnouncedNode {
  readonly node: string
  readonly role: string
  readonly executor: string
  readonly part: NodePart
  readonly predecessors: readonly string[]
}

/**
 * `unanswered`: it ran to its end without a valid answer. `stopped`: the model refused (key, money, permission) or is gone,
 * so that no other call can succeed.
 */
export type ExecutionStatus = 'answered' | 'unanswered' | 'stopped' | 'timed_out' | 'aborted'

/** An event without the execution's id, which the execution adds. */
export type EventBody = ExecutionEvent extends infer Event
  ? Event extends ExecutionEvent
    ? Omit<Event, 'execution'>
    : never
  : never

/** Calls a listener. One that throws is dropped: a bug in a view must not change an execution. */
export class Announcer {
  readonly #execution: string
  #listener: ((event: ExecutionEvent) => void) | undefined

  constructor(execution: string, listener: ((event: ExecutionEvent) => void) | undefined) {
    this.#execution = execution
    this.#listener = listener
  }

  get listening(): boolean {
    return this.#listener !== undefined
  }

  tell(event: EventBody): void {
    if (this.#listener === undefined) return
    try {
      this.#listener({ execution: this.#execution, ...event } as ExecutionEvent)
    } catch (error) {
      this.#listener = undefined
      process.emitWarning(`A listener to execution events failed and was dropped: ${String(error)}`)
    }
  }
}
