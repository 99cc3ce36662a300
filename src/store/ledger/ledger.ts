import type { Trace } from '../../execution/trace/trace.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { ChatAnswer } from '../../models/chat-model.ts'
import type { TokenUsage } from '../../models/usage.ts'
import { assertStorable, type Evaluation, type EvaluationKey } from './evaluation.ts'
import type { LedgerError } from './ledger-error.ts'
import {
  digestBytes,
  evaluationRow,
  type LedgerTables,
  readEvaluation,
  readTextRow,
  readTrace,
  type ScoredContent,
  type ScoredRow,
  type TableName,
  type TextRow,
  type TraceRow,
  textRow,
  traceRow,
} from './ledger-rows.ts'

const pageOfEntries = 256

export interface LedgerSize {
  readonly evaluations: number
  readonly replies: number
  readonly traces: number
}

export interface RepliesSpending extends TokenUsage {
  readonly calls: number
  /** Calls whose server told no usage. */
  readonly unknown: number
}

/** A page of a table, and where the next one begins; absent after the last. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly next?: string
}

/**
 * What was paid for once and can be used again: evaluations, replies by request, tool observations, and traces. Whatever a
 * promise of `keep…` has acknowledged is there after a crash, whole. It never evaluates or asks by itself:
 * `ledger-memory.ts` does. A store of rows makes it a ledger: SQLite, PostgreSQL.
 */
export abstract class Ledger {
  async find(key: EvaluationKey): Promise<Evaluation | undefined> {
    const row = await this.findEvaluationRow(digestBytes(key))
    // With the key asked for: a row under another one's digest has not its checksum.
    return row && this.#readEvaluation({ ...row, ...key })
  }

  /** Keeps an evaluation and its trace. The first under a key stays and comes back; a later one's trace is kept beside it. */
  async keep(key: EvaluationKey, evaluation: Evaluation, trace: Trace): Promise<Evaluation> {
    assertStorable(evaluation, trace)
    const isNew = await this.keepEvaluationRow(
      digestBytes(key),
      evaluationRow(key, evaluation),
      traceRow(trace),
    )
    return isNew ? evaluation : (await this.find(key))!
  }

  findReply(digest: string): Promise<ChatAnswer | undefined> {
    return this.#findText('replies', digest, 'the reply to request')
  }

  /** Answers only; a failed call is no reply. The first one stays. */
  async keepReply(digest: string, answer: ChatAnswer): Promise<void> {
    if (answer.ok !== true) throw new TypeError('Only answers are kept; a failed call is no reply.')
    await this.keepTextRow('replies', textRow(digest, answer))
  }

  /** What a tool observed, by the digest of all that it saw. */
  findObservation(digest: string): Promise<JsonValue | undefined> {
    return this.#findText('observations', digest, 'the tool observation')
  }

  /** The first one stays: a second look may see something else, and calls were made on what the first one saw. */
  async keepObservation(digest: string, observation: JsonValue): Promise<void> {
    await this.keepTextRow('observations', textRow(digest, observation))
  }

  async findTrace(execution: string): Promise<Trace | undefined> {
    const row = await this.findTraceRow(execution)
    return row && (readTrace(row) ?? this.#refuse(`the trace of execution ${execution}`))
  }

  /** For executions that are no evaluation, such as those that were cut short. Ids are not used twice. */
  async keepTrace(trace: Trace): Promise<void> {
    await this.keepTraceRow(traceRow(trace))
  }

  /** All evaluations, in the order in which they were kept. */
  async *entries(): AsyncIterable<{ key: EvaluationKey; evaluation: Evaluation }> {
    // By pages, so that no read transaction stays open.
    let after: string | undefined
    do {
      const page: Page<ScoredRow> = await this.page('evaluations', after, pageOfEntries)
      for (const row of page.rows) yield this.#listed(row)
      after = page.next
    } while (after !== undefined)
  }

  /** The evaluations of one task, the oldest first. */
  async evaluationsOf(task: string): Promise<{ key: EvaluationKey; evaluation: Evaluation }[]> {
    return (await this.taskRows(task)).map((row) => this.#listed(row))
  }

  abstract size(): Promise<LedgerSize>

  /**
   * The sum over all replies: each was one call that was made and answered, in this process or in an earlier one. Failed
   * attempts left no reply; what they used stands in the traces.
   */
  abstract spending(): Promise<RepliesSpending>

  /** Ends what is being written, then lets go of the store. */
  abstract close(): Promise<void>

  /** Rows in the order of their keys, evaluations in the order in which they were kept. */
  abstract page<Table extends TableName>(
    table: Table,
    after: string | undefined,
    limit: number,
  ): Promise<Page<LedgerTables[Table]>>

  /** Takes rows of another ledger over as they are. Those whose key is there already stay out. */
  abstract takeOver<Table extends TableName>(
    table: Table,
    rows: readonly LedgerTables[Table][],
  ): Promise<void>

  protected abstract findEvaluationRow(digest: Buffer): Promise<ScoredContent | undefined>
  protected abstract findTextRow(
    table: 'replies' | 'observations',
    digest: string,
  ): Promise<TextRow | undefined>
  protected abstract findTraceRow(execution: string): Promise<TraceRow | undefined>
  /** In one transaction with its trace. Tells whether the evaluation is new. */
  protected abstract keepEvaluationRow(digest: Buffer, row: ScoredRow, trace: TraceRow): Promise<boolean>
  protected abstract keepTextRow(table: 'replies' | 'observations', row: TextRow): Promise<void>
  protected abstract keepTraceRow(row: TraceRow): Promise<void>
  protected abstract taskRows(task: string): Promise<ScoredRow[]>
  /** The error for a row that is not what was written. */
  protected abstract damagedRow(what: string): LedgerError

  async #findText<Value>(
    table: 'replies' | 'observations',
    digest: string,
    what: string,
  ): Promise<Value | undefined> {
    const row = await this.findTextRow(table, digest)
    if (row === undefined) return undefined
    const value = readTextRow<Value>(row)
    // Null is a value, too.
    return value === undefined ? this.#refuse(`${what} ${digest}`) : value
  }

  #listed(row: ScoredRow): { key: EvaluationKey; evaluation: Evaluation } {
    const { graph, task, dataVersion, executor } = row
    return { key: { graph, task, dataVersion, executor }, evaluation: this.#readEvaluation(row) }
  }

  #readEvaluation(row: ScoredRow): Evaluation {
    return readEvaluation(row) ?? this.#refuse(`the evaluation of graph ${row.graph} on task '${row.task}'`)
  }

  #refuse(what: string): never {
    throw this.damagedRow(`${what} is not what was written`)
  }
}
