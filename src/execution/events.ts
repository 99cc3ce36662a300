import type { JsonValue } from '../library/json-value.ts'
import type { Cost } from '../models/prices.ts'
import type { Usage } from '../models/usage.ts'
import type { NodePart, NodeStatus } from './packet.ts'
import type { ToolObservation } from './tools/tool.ts'

/** What happens in an execution, for a live view. Texts of tasks, models and tools are not in it, but for the answer. */
export type ExecutionEvent = { readonly execution: string } & (
  | { readonly type: 'execution-start'; readonly task: string; readonly nodes: readonly AnnouncedNode[] }
  | { readonly type: 'node-start'; readonly node: string }
  | {
      readonly type: 'call-end'
      readonly node: string
      readonly ok: boolean
      readonly reused: boolean
      /** Of the request, where a cache was asked for it. */
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
 * `unanswered`: it ran to its end without a valid answer. `stopped`: the model refused in a way that no other call can
 * mend (key, money, permission), or is gone.
 */
export type ExecutionStatus = 'answered' | 'unanswered' | 'stopped' | 'timed_out' | 'aborted'

/** An event without the execution's id, which the execution adds. */
export type EventBody = ExecutionEvent extends infer Event
  ? Event extends ExecutionEvent
    ? Omit<Event, 'execution'>
    : never
  : never

/** Tells a listener. One that throws is not told again: a view's mistake must not change an execution. */
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
      process.emitWarning(`A listener to execution events failed and hears no more: ${String(error)}`)
    }
  }
}
