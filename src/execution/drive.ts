import type { z } from 'zod'
import type { UnitMarks } from '../graph/agent-graph.ts'
import type { AnswerContract } from '../library/answer-contract.ts'
import type { JsonObject, JsonValue } from '../library/json-value.ts'
import type { Library } from '../library/library.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import type { Task } from '../library/task.ts'
import type { Packet } from './packet.ts'

/** What a driven agent said. */
export interface Said {
  readonly packet: Packet
  /** Its position among all agents asked so far, from 0. */
  readonly place: number
  /** The extra fields that were asked for, as far as the reply has them. */
  readonly also: JsonObject
}

/** Which agent to ask, and what it hears. */
export interface AgentOrder extends UnitMarks {
  /** A role of the library, or a plain role such as `solver`. */
  readonly role: string
  /** The messages it receives, in this order. */
  readonly hears?: readonly Said[]
  /** Extra information for this agent, passed as data. */
  readonly brief?: JsonObject
  /** Extra reply fields beside `analysis` and `answer`, each with a description. */
  readonly also?: Readonly<Record<string, string>>
}

/** Asks a planner, ranker or verifier for anything other than an answer to the task. */
export interface ConsultOrder<Schema extends z.ZodType> extends UnitMarks {
  /** `planner`, `ranker`, …; the node's role in traces. */
  readonly role: string
  /** The system prompt; instructions on the reply format are appended. */
  readonly prompt: string
  readonly hears?: readonly Said[]
  readonly brief?: JsonObject
  /** The reply's fields, each with a description. */
  readonly reply: Readonly<Record<string, string>>
  readonly schema: Schema
  /** Whether a reply that does not match the schema is sent back for repair once. Default: true. */
  readonly repair?: boolean
}

export interface Consulted<Value> {
  /** Absent if the reply could not be read; the packet says why. */
  readonly value?: Value
  readonly packet: Packet
  readonly place: number
}

export type ProgramOutcome =
  | { readonly ran: true; readonly ended: string; readonly stdout: string; readonly stderr: string }
  | { readonly ran: false; readonly reason: string }

/** What an organisation uses to run one task. Every call goes through the execution's limits, retries, meters and traces. */
export interface DriveContext {
  readonly task: Task
  readonly contract: AnswerContract
  readonly library: Library
  readonly profile: Pick<DatasetProfile, 'id' | 'tools'>
  readonly signal: AbortSignal
  /** Asks an agent to answer the task. Model failures end up in the packet; they never reject. */
  agent(order: AgentOrder): Promise<Said>
  /** Asks for a plan, a ranking, a verdict. */
  consult<Schema extends z.ZodType>(order: ConsultOrder<Schema>): Promise<Consulted<z.output<Schema>>>
  /** Lets the outer summarizer combine what others said into an answer, as at the end of a graph. */
  summarize(hears: readonly Said[]): Promise<Said>
  /** Whether an answer meets the contract. */
  accepts(answer: JsonValue): boolean
  /** Whether a sandbox is available. */
  readonly runsPrograms: boolean
  /** Runs a model-written Python program, only ever in the sandbox. */
  program(source: string): Promise<ProgramOutcome>
  /** Stores a fact with the run's record, such as a ranking that could not be read. */
  note(name: string, value: JsonValue): void
}

/** Returns the answer. If it is undefined or breaks the contract, the question counts as unanswered. */
export type Drive = (context: DriveContext) => Promise<JsonValue | undefined>
