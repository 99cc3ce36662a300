import type { AgentGraph } from '../graph/agent-graph.ts'
import type { AnswerContract } from '../library/answer-contract.ts'
import type { JsonObject, JsonValue } from '../library/json-value.ts'
import type { Library } from '../library/library.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import type { Task } from '../library/task.ts'
import type { CallLimit } from '../models/call-limit.ts'
import type { ChatFailure, ChatModel } from '../models/chat-model.ts'
import type { Clock } from '../models/clock.ts'
import type { Cost } from '../models/prices.ts'
import type { Allowance, Call, Meter } from '../models/retry.ts'
import type { Usage } from '../models/usage.ts'
import type { ExecutionSettings } from '../settings/execution.ts'
import type { Memory } from './once.ts'
import type { Packet } from './packet.ts'
import type { Toolbox } from './toolbox.ts'
import type { ExecutionEvent, ExecutionStatus } from './trace/events.ts'
import type { Trace } from './trace/trace.ts'

export type OtherTask = Pick<ExecutionOptions, 'task' | 'contract'>

export interface ExecutionOptions {
  /** The empty graph is the direct path: the model alone with the question. */
  readonly graph: AgentGraph
  /** The public part of a task. References and hidden tests are other types, and have no way in here. */
  readonly task: Task
  readonly library: Library
  readonly profile: Pick<DatasetProfile, 'id' | 'tools'>
  readonly contract: AnswerContract
  readonly model: ChatModel
  /** Further models, for nodes that name one. */
  readonly models?: Readonly<Record<string, ChatModel>>
  readonly tools?: Toolbox
  readonly settings?: ExecutionSettings
  readonly signal?: AbortSignal
  /** Shared by everything in the process by default. */
  readonly limit?: CallLimit
  readonly clock?: Clock
  /** Notes every attempt to call the model, control calls included. */
  readonly meter?: Meter
  /** Decides when an attempt may be made; by default at once. */
  readonly allowance?: Allowance
  /** Other questions of the same kind. Where a request is rejected, they show whether the endpoint still answers. */
  readonly others?: Iterable<OtherTask>
  /** For training only, and at temperature 0 only: answers of identical requests are used again. */
  readonly replies?: Memory<Call>
  readonly onEvent?: (event: ExecutionEvent) => void
  /** Disturbs it on purpose, to see how much the answer depends on the organisation. */
  readonly interference?: Interference
  /** Its id in events, traces and spans; random by default. */
  readonly id?: string
}

/** Decides by what it is told alone, so that the same execution is disturbed in the same way again. */
export interface Interference {
  /** Whether a node that answers the task fails without being asked. */
  fails(node: Pick<Packet, 'node' | 'role' | 'part'>): boolean
  /** What reaches those who listen to a node. */
  handedOn(packet: Packet, task: Task): Packet
}

/** The result of running one graph on one task. Failures of models and tools are part of it, not exceptions. */
export interface Execution {
  readonly id: string
  readonly status: ExecutionStatus
  /** As it was run. Of an organisation that drives: whoever was asked, in order, and whom they heard. */
  readonly graph: AgentGraph
  /** What an organisation that drives noted about this run. */
  readonly notes?: JsonObject
  /** Present exactly when the status is `answered`; it keeps the contract. */
  readonly answer?: JsonValue
  /** The answer as scorers take it, after `FINAL: `. */
  readonly final?: string
  /** The failure that stopped it. */
  readonly stop?: ChatFailure
  /** One per node, in dependency order; the finalizer's or the direct path's is last. */
  readonly packets: readonly Packet[]
  /** The nodes that failed, recovered or not by others. */
  readonly failures: readonly Packet[]
  /** Of all attempts that were made. */
  readonly usage: Usage
  /** What identical requests saved. */
  readonly reused: Usage
  readonly cost: Cost
  readonly durationMs: number
  readonly trace: Trace
}
