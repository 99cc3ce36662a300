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
  /** The empty graph is the direct path: the model answers the question alone. */
  readonly graph: AgentGraph
  /** The public part of a task. References and hidden tests have other types and cannot be passed here. */
  readonly task: Task
  readonly library: Library
  readonly profile: Pick<DatasetProfile, 'id' | 'tools'>
  readonly contract: AnswerContract
  readonly model: ChatModel
  /** Further models, for nodes that name one of them. */
  readonly models?: Readonly<Record<string, ChatModel>>
  readonly tools?: Toolbox
  readonly settings?: ExecutionSettings
  readonly signal?: AbortSignal
  /** By default, one limit shared by the whole process. */
  readonly limit?: CallLimit
  readonly clock?: Clock
  /** Records every attempt to call the model, control calls included. */
  readonly meter?: Meter
  /** Decides when an attempt may be made. By default, immediately. */
  readonly allowance?: Allowance
  /** Other questions of the same kind. After a rejected request, they show whether the endpoint still answers. */
  readonly others?: Iterable<OtherTask>
  /** Reuses replies to identical requests. For training only, and only at temperature 0. */
  readonly replies?: Memory<Call>
  readonly onEvent?: (event: ExecutionEvent) => void
  /** Disturbs the execution on purpose, to measure how much the answer depends on the organisation. */
  readonly interference?: Interference
  /** The execution's id in events, traces and spans. Random by default. */
  readonly id?: string
}

/** Decides only by its arguments, so that an execution is always disturbed in the same way. */
export interface Interference {
  /** Whether a node fails without calling the model. */
  fails(node: Pick<Packet, 'node' | 'role' | 'part'>): boolean
  /** What a node's listeners receive. */
  handedOn(packet: Packet, task: Task): Packet
}

/** The result of running one graph on one task. Failures of models and tools are part of it, not exceptions. */
export interface Execution {
  readonly id: string
  readonly status: ExecutionStatus
  /** The graph as run. For a driving organisation: who was asked, in order, and whom they heard. */
  readonly graph: AgentGraph
  /** Facts that a driving organisation noted about this run. */
  readonly notes?: JsonObject
  /** Present exactly when the status is `answered`; it meets the contract. */
  readonly answer?: JsonValue
  /** The answer as scorers read it: prefixed with `FINAL: `. */
  readonly final?: string
  /** The failure that stopped the execution. */
  readonly stop?: ChatFailure
  /** One per node in dependency order, ending with the finalizer or the direct path. */
  readonly packets: readonly Packet[]
  /** The packets of failed nodes, whether or not others recovered from them. */
  readonly failures: readonly Packet[]
  /** Summed over all attempts made. */
  readonly usage: Usage
  /** What reuse of identical requests saved. */
  readonly reused: Usage
  /** What further models took, made and reused together, by `provider/model`: each has a price of its own. */
  readonly further?: Readonly<Record<string, Usage>>
  readonly cost: Cost
  readonly durationMs: number
  readonly trace: Trace
}
