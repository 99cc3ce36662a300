import type { Trace } from '../../execution/trace/trace.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { ChatAnswer } from '../../models/chat-model.ts'
import type { TokenUsage } from '../../models/usage.ts'
import type { Evaluation, EvaluationKey } from './evaluation.ts'

/**
 * What was paid for once and can be used again: evaluations, replies by request, tool observations, and traces. Whatever a
 * promise of `keep…` has acknowledged is there after a crash, whole. It never evaluates or asks by itself:
 * `ledger-memory.ts` does.
 */
export interface EvaluationLedger {
  find(key: EvaluationKey): Promise<Evaluation | undefined>
  /**
   * Keeps an evaluation together with its execution's trace. The first one under a key stays: that one comes back, while
   * the later one's trace, with its cost, is kept beside it.
   */
  keep(key: EvaluationKey, evaluation: Evaluation, trace: Trace): Promise<Evaluation>
  findReply(digest: string): Promise<ChatAnswer | undefined>
  /** Answers only; a failed call is no reply. The first one stays. */
  keepReply(digest: string, answer: ChatAnswer): Promise<void>
  /** What a tool observed, by the digest of all that it saw. */
  findObservation(digest: string): Promise<JsonValue | undefined>
  /** The first one stays: a second look may see something else, and calls were made on what the first one saw. */
  keepObservation(digest: string, observation: JsonValue): Promise<void>
  findTrace(execution: string): Promise<Trace | undefined>
  /** For executions that are no evaluation, such as those that were cut short. Ids are not used twice. */
  keepTrace(trace: Trace): Promise<void>
  /** All evaluations, in the order in which they were kept. */
  entries(): AsyncIterable<LedgerEntry>
  size(): Promise<LedgerSize>
  /** The sum over all replies: each was one call that was made and answered, in this process or in an earlier one. */
  spending(): Promise<Spending>
  /** Ends what is being written, then lets go of the file. */
  close(): Promise<void>
}

export interface LedgerEntry {
  readonly key: EvaluationKey
  readonly evaluation: Evaluation
}

export interface LedgerSize {
  readonly evaluations: number
  readonly replies: number
  readonly traces: number
}

/** Failed attempts left no reply and are not in it: what they used stands in the traces. */
export interface Spending extends TokenUsage {
  readonly calls: number
  /** Calls whose server told no usage. While there are any, the tokens are lower bounds. */
  readonly unknown: number
}
