import type { ChatAnswer } from '../execution/models/chat-model.ts'
import type { Trace } from '../execution/trace.ts'
import type { Evaluation, EvaluationKey } from './evaluation.ts'

/**
 * What was paid for once and can be used again: evaluations, replies by request, and traces. Whatever a promise of `keep…`
 * has acknowledged is there after a crash, whole. It never evaluates or asks by itself: `evaluate-once.ts` does, and
 * `ledger-request-cache.ts` hands replies to the executor.
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
  findTrace(execution: string): Promise<Trace | undefined>
  /** For executions that are no evaluation, such as those that were cut short. Ids are not used twice. */
  keepTrace(trace: Trace): Promise<void>
  /** All evaluations, in the order in which they were kept. */
  entries(): AsyncIterable<LedgerEntry>
  size(): Promise<LedgerSize>
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

export function assertAnswer(answer: ChatAnswer): void {
  if (answer.ok !== true) throw new TypeError('Only answers are kept; a failed call is no reply.')
}
