import type { Trace } from '../../execution/trace/trace.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { ChatAnswer } from '../../models/chat-model.ts'
import type { TokenUsage } from '../../models/usage.ts'
import { assertStorable, type Evaluation, type EvaluationKey } from './evaluation.ts'
import type { LedgerError } from './ledger-error.ts'
import {
  digestBytes,
  evaluationRow,
  type KeyedTable,
  type LedgerTables,
  readEvaluation,
  readTextRow,
  readTrace,
  type ScoredContent,
  type ScoredRow,
  type TableName,
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
  /** Calls whose server reported no usage. */
  readonly unknown: number
}

/** A page of a table, and where the next one starts; absent after the last. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly next?: string
}

/**
 * Everything that was paid for and can be reused: evaluations, replies by request, tool observations, and traces.
 * Once a `keep…` promise resolves, its data survives a crash. A ledger never evaluates or calls by itself:
 * `ledger-memory.ts` does. Subclasses store the rows: SQLite, PostgreSQL.
 */
export abstract class Ledger {
  async find(key: EvaluationKey): Promise<Evaluation | undefined> {
    const row = await this.findEvaluationRow(digestBytes(key))
    // Checked with the requested key: a row under another key's digest fails its checksum.
    return row && this.#readEvaluation({ ...row, ...key })
  }

  /**
   * Stores an evaluation and its trace. The first one under a key wins and is returned; traces of later ones are
   * stored too.
   */
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

  /** Answers only, not failed calls. The first one wins. */
  async keepReply(digest: string, answer: ChatAnswer): Promise<void> {
    if (answer.ok !== true) throw new TypeError('Only answers are kept; a failed call is no reply.')
    await this.keepRow('replies', textRow(digest, answer))
  }

  /** A tool observation, by the digest of its inputs. */
  findObservation(digest: string): Promise<JsonValue | undefined> {
    return this.#findText('observations', digest, 'the tool observation')
  }

  /** The first one wins: another run of the tool may see something else, but calls were already based on the first. */
  async keepObservation(digest: string, observation: JsonValue): Promise<void> {
    await this.keepRow('observations', textRow(digest, observation))
  }

  async findTrace(execution: string): Promise<Trace | undefined> {
    const row = await this.findRow('executions', execution)
    return row && (readTrace(row) ?? this.#refuse(`the trace of execution ${execution}`))
  }

  /** For executions that are not evaluations, such as interrupted ones. Ids must be unique. */
  async keepTrace(trace: Trace): Promise<void> {
    await this.keepRow('executions', traceRow(trace))
  }

  /** All evaluations, in the order they were stored. */
  async *entries(): AsyncIterable<{ key: EvaluationKey; evaluation: Evaluation }> {
    // In pages, so that no read transaction stays open.
    let after: string | undefined
    do {
      const page: Page<ScoredRow> = await this.page('evaluations', after, pageOfEntries)
      for (const row of page.rows) yield this.#listed(row)
      after = page.next
    } while (after !== undefined)
  }

  /** The evaluations of one task, oldest first. */
  async evaluationsOf(task: string): Promise<{ key: EvaluationKey; evaluation: Evaluation }[]> {
    return (await this.taskRows(task)).map((row) => this.#listed(row))
  }

  abstract size(): Promise<LedgerSize>

  /**
   * The sum over all replies, each of which was one answered call, of this process or an earlier one. Failed attempts
   * leave no reply; their usage is in the traces.
   */
  abstract spending(): Promise<RepliesSpending>

  /** Finishes pending writes, then closes the store. */
  abstract close(): Promise<void>

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Rows in key order; evaluations in the order they were stored. */
  abstract page<Table extends TableName>(
    table: Table,
    after: string | undefined,
    limit: number,
  ): Promise<Page<LedgerTables[Table]>>

  /** Copies rows of another ledger unchanged, skipping keys that exist. */
  abstract takeOver<Table extends TableName>(
    table: Table,
    rows: readonly LedgerTables[Table][],
  ): Promise<void>

  protected abstract findEvaluationRow(digest: Buffer): Promise<ScoredContent | undefined>
  protected abstract findRow<Table extends KeyedTable>(
    table: Table,
    key: string,
  ): Promise<LedgerTables[Table] | undefined>
  /** Stores it with its trace in one transaction. Returns whether the evaluation is new. */
  protected abstract keepEvaluationRow(digest: Buffer, row: ScoredRow, trace: TraceRow): Promise<boolean>
  protected abstract keepRow<Table extends KeyedTable>(table: Table, row: LedgerTables[Table]): Promise<void>
  protected abstract taskRows(task: string): Promise<ScoredRow[]>
  /** The error for a damaged row. */
  protected abstract damagedRow(what: string): LedgerError

  async #findText<Value>(
    table: 'replies' | 'observations',
    digest: string,
    what: string,
  ): Promise<Value | undefined> {
    const row = await this.findRow(table, digest)
    if (row === undefined) return undefined
    const value = readTextRow<Value>(row)
    // Null is a valid value.
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
