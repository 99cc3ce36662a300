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
  /** Its place among all who were asked, from 0. */
  readonly place: number
  /** Fields that it was asked for beside analysis and answer, as far as they are there. */
  readonly also: JsonObject
}

/** Who shall answer, and what it hears. */
export interface AgentOrder extends UnitMarks {
  /** A role of the library, or a plain one such as `solver`. */
  readonly role: string
  /** Whose messages it gets, in this order. */
  readonly hears?: readonly Said[]
  /** More that it is told, as data. */
  readonly brief?: JsonObject
  /** Fields of the reply beside `analysis` and `answer`, each with what it must hold. */
  readonly also?: Readonly<Record<string, string>>
}

/** A question to a planner, ranker or verifier: anything that is not an answer to the task. */
export interface ConsultOrder<Schema extends z.ZodType> extends UnitMarks {
  /** What it is: `planner`, `ranker`. It is the node's role in traces. */
  readonly role: string
  /** Its system prompt; the form of the reply is added. */
  readonly prompt: string
  readonly hears?: readonly Said[]
  readonly brief?: JsonObject
  /** The fields of the reply, each with what it must hold. */
  readonly reply: Readonly<Record<string, string>>
  readonly schema: Schema
  /** Whether a reply that does not fit the schema is sent back once; it is by default. */
  readonly repair?: boolean
}

export interface Consulted<Value> {
  /** Absent where it was not readable; the packet says why. */
  readonly value?: Value
  readonly packet: Packet
  readonly place: number
}

export type ProgramOutcome =
  | { readonly ran: true; readonly ended: string; readonly stdout: string; readonly stderr: string }
  | { readonly ran: false; readonly reason: string }

/** Run-time control over one task. Every call goes through the limits, retries, meters and traces of an execution. */
export interface DriveContext {
  readonly task: Task
  readonly contract: AnswerContract
  readonly library: Library
  readonly profile: Pick<DatasetProfile, 'id' | 'tools'>
  readonly signal: AbortSignal
  /** Has an agent answer the task. Failures of the model are in its packet; it never rejects for them. */
  agent(order: AgentOrder): Promise<Said>
  /** Asks for a plan, a ranking, a verdict. */
  consult<Schema extends z.ZodType>(order: ConsultOrder<Schema>): Promise<Consulted<z.output<Schema>>>
  /** Has the outer summarizer make an answer of what others said, as at the end of a graph. */
  summarize(hears: readonly Said[]): Promise<Said>
  /** Whether an answer keeps the contract. */
  accepts(answer: JsonValue): boolean
  /** Whether there is a sandbox. */
  readonly runsPrograms: boolean
  /** Runs a Python program that a model wrote, in the sandbox and nowhere else. */
  program(source: string): Promise<ProgramOutcome>
  /** Keeps a fact about this run with its record, such as a ranking that could not be read. */
  note(name: string, value: JsonValue): void
}

/** Gives the answer; one that breaks the contract, or none, leaves the question unanswered. */
export type Drive = (context: DriveContext) => Promise<JsonValue | undefined>
