import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import type { Trace } from '../../execution/trace/trace.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { ChatAnswer } from '../../models/chat-model.ts'
import type { TokenUsage } from '../../models/usage.ts'
import { assertStorable, type Evaluation, type EvaluationKey, evaluationDigest } from './evaluation.ts'
import { GroupCommit } from './group-commit.ts'
import { defaultPatienceMs, inTransaction, type LedgerFileOptions, openLedgerFile } from './ledger-file.ts'
import { damaged, LedgerError, type Patience, patiently } from './sqlite-failure.ts'
import { decodeTrace, encodeTrace } from './trace-codec.ts'

const pageOfEntries = 256

/**
 * What was paid for once and can be used again: evaluations, replies by request, tool observations, and traces. Whatever a
 * promise of `keep…` has acknowledged is there after a crash, whole. It never evaluates or asks by itself:
 * `ledger-memory.ts` does.
 *
 * It is one SQLite file, or lies in memory. SQLite checks its pages but not what stands in them, so every row carries a
 * checksum with its key: a flipped bit is an error or a row that is not found, never another score.
 */
export class SqliteLedger {
  readonly #database: DatabaseSync
  readonly #patience: Patience
  readonly #readOnly: boolean
  readonly #commits: GroupCommit
  readonly #statements: Statements

  private constructor(database: DatabaseSync, statements: Statements, patience: Patience, readOnly: boolean) {
    this.#database = database
    this.#statements = statements
    this.#patience = patience
    this.#readOnly = readOnly
    this.#commits = new GroupCommit((work, bytes) =>
      patiently(() => inTransaction(database, work), patience, bytes),
    )
  }

  /** `:memory:` gives one that ends with the process. */
  static async open(path: string, options: LedgerFileOptions = {}): Promise<SqliteLedger> {
    const { patienceMs = defaultPatienceMs, readOnly = false } = options
    const database = await openLedgerFile(path, options)
    try {
      const statements = await patiently(() => prepare(database), { path, patienceMs })
      return new SqliteLedger(database, statements, { path, patienceMs }, readOnly)
    } catch (error) {
      database.close()
      throw error
    }
  }

  async find(key: EvaluationKey): Promise<Evaluation | undefined> {
    const row = await this.#get<EvaluationRow>(this.#statements.findEvaluation, digestBytes(key))
    return row && this.#readEvaluation(key, row)
  }

  /** Keeps an evaluation and its trace. The first under a key stays and comes back; a later one's trace is kept beside it. */
  async keep(key: EvaluationKey, evaluation: Evaluation, trace: Trace): Promise<Evaluation> {
    assertStorable(evaluation, trace)
    const { score, status, execution, ...rest } = evaluation
    const detail = JSON.stringify(rest)
    const row = [...keyParts(key), score, status, execution, detail]
    const { changes } = await this.#keepTrace(trace, detail.length, () =>
      this.#statements.keepEvaluation.run(digestBytes(key), ...row, checksum(...row)),
    )
    return changes === 1 ? evaluation : (await this.find(key))!
  }

  findReply(digest: string): Promise<ChatAnswer | undefined> {
    return this.#findJson(this.#statements.findReply, digest, 'the reply to request')
  }

  /** Answers only; a failed call is no reply. The first one stays. */
  async keepReply(digest: string, answer: ChatAnswer): Promise<void> {
    if (answer.ok !== true) throw new TypeError('Only answers are kept; a failed call is no reply.')
    await this.#keepJson(this.#statements.keepReply, digest, answer)
  }

  /** What a tool observed, by the digest of all that it saw. */
  findObservation(digest: string): Promise<JsonValue | undefined> {
    return this.#findJson(this.#statements.findObservation, digest, 'the tool observation')
  }

  /** The first one stays: a second look may see something else, and calls were made on what the first one saw. */
  keepObservation(digest: string, observation: JsonValue): Promise<void> {
    return this.#keepJson(this.#statements.keepObservation, digest, observation)
  }

  async findTrace(execution: string): Promise<Trace | undefined> {
    const row = await this.#get<{ trace: Uint8Array; crc: number }>(this.#statements.findTrace, execution)
    if (row === undefined) return undefined
    // A flipped bit may also have made it something else than bytes.
    if (!(row.trace instanceof Uint8Array) || crc32(row.trace, crc32(execution)) !== row.crc)
      throw this.#damaged(`the trace of execution ${execution}`)
    return decodeTrace(row.trace)
  }

  /** For executions that are no evaluation, such as those that were cut short. Ids are not used twice. */
  async keepTrace(trace: Trace): Promise<void> {
    await this.#keepTrace(trace, 0, () => {})
  }

  /** All evaluations, in the order in which they were kept. */
  async *entries(): AsyncIterable<{ key: EvaluationKey; evaluation: Evaluation }> {
    // By pages, so that no read transaction stays open: that would keep the log from being cut.
    for (let after = 0; ; ) {
      const page = await patiently(
        () => this.#statements.listEvaluations.all(after, pageOfEntries) as unknown as ListedRow[],
        this.#patience,
      )
      for (const row of page) yield this.#listed(row)
      if (page.length < pageOfEntries) return
      after = page.at(-1)!.place
    }
  }

  /** The evaluations of one task, the oldest first. */
  async evaluationsOf(task: string): Promise<{ key: EvaluationKey; evaluation: Evaluation }[]> {
    const rows = await patiently(
      () => this.#statements.evaluationsOfTask.all(task) as unknown as ListedRow[],
      this.#patience,
    )
    return rows.map((row) => this.#listed(row))
  }

  async size(): Promise<LedgerSize> {
    return { ...(await this.#get<LedgerSize>(this.#statements.size))! }
  }

  /**
   * The sum over all replies: each was one call that was made and answered, in this process or in an earlier one. Failed
   * attempts left no reply; what they used stands in the traces. `unknown`: calls whose server told no usage.
   */
  async spending(): Promise<Spending> {
    return { ...(await this.#get<Spending>(this.#statements.spending))! }
  }

  /** Ends what is being written, then lets go of the file. */
  async close(): Promise<void> {
    await this.#commits.settled()
    if (this.#database.isOpen) this.#database.close()
  }

  #get<Row>(statement: StatementSync, ...parameters: (string | Uint8Array)[]): Promise<Row | undefined> {
    return patiently(() => statement.get(...parameters) as Row | undefined, this.#patience)
  }

  async #findJson<Value>(statement: StatementSync, digest: string, what: string): Promise<Value | undefined> {
    const row = await this.#get<{ json: string; crc: number }>(statement, digest)
    if (row === undefined) return undefined
    if (checksum(digest, row.json) !== row.crc) throw this.#damaged(`${what} ${digest}`)
    return JSON.parse(row.json) as Value
  }

  async #keepJson(statement: StatementSync, digest: string, value: unknown): Promise<void> {
    const json = JSON.stringify(value)
    await this.#write(json.length, () => statement.run(digest, json, checksum(digest, json)))
  }

  /** Keeps a trace, and in the same transaction whatever else `apply` writes. */
  #keepTrace<Result>(trace: Trace, bytes: number, apply: () => Result): Promise<Result> {
    const { execution } = trace
    const encoded = encodeTrace(trace)
    const crc = crc32(encoded, crc32(execution))
    return this.#write(bytes + encoded.length, () => {
      this.#statements.keepTrace.run(execution, encoded, crc)
      return apply()
    })
  }

  async #write<Result>(bytes: number, apply: () => Result): Promise<Result> {
    if (this.#readOnly) throw new LedgerError(`The ledger ${this.#patience.path} is open for reading only.`)
    // In memory there is no disk to wait for.
    return this.#patience.path === ':memory:' ? apply() : this.#commits.write(bytes, apply)
  }

  #listed(row: ListedRow): { key: EvaluationKey; evaluation: Evaluation } {
    const { graph, task, dataVersion, executor } = row
    const key = { graph, task, dataVersion, executor }
    return { key, evaluation: this.#readEvaluation(key, row) }
  }

  #readEvaluation(key: EvaluationKey, { score, status, execution, detail, crc }: EvaluationRow): Evaluation {
    if (checksum(...keyParts(key), score, status, execution, detail) !== crc)
      throw this.#damaged(`the evaluation of graph ${key.graph} on task '${key.task}'`)
    return { score, status, execution, ...JSON.parse(detail) }
  }

  #damaged(what: string): LedgerError {
    return damaged(this.#patience.path, `${what} is not what was written`)
  }
}

type LedgerSize = { evaluations: number; replies: number; traces: number }
type Spending = TokenUsage & { calls: number; unknown: number }
type EvaluationRow = Pick<Evaluation, 'score' | 'status' | 'execution'> & { detail: string; crc: number }
type ListedRow = EvaluationRow & EvaluationKey & { place: number }
type Statements = ReturnType<typeof prepare>

function prepare(database: DatabaseSync) {
  const evaluation = 'score, status, execution, detail, crc'
  return {
    findEvaluation: database.prepare(`SELECT ${evaluation} FROM evaluations WHERE key = ?`),
    keepEvaluation: database.prepare(
      `INSERT INTO evaluations (key, graph, task, data_version, executor, ${evaluation})
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
    ),
    listEvaluations: database.prepare(
      `SELECT place, graph, task, data_version AS dataVersion, executor, ${evaluation}
       FROM evaluations WHERE place > ? ORDER BY place LIMIT ?`,
    ),
    evaluationsOfTask: database.prepare(
      `SELECT place, graph, task, data_version AS dataVersion, executor, ${evaluation}
       FROM evaluations WHERE task = ? ORDER BY place`,
    ),
    findReply: database.prepare('SELECT reply AS json, crc FROM replies WHERE digest = ?'),
    keepReply: database.prepare('INSERT INTO replies VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
    findObservation: database.prepare('SELECT observation AS json, crc FROM observations WHERE digest = ?'),
    keepObservation: database.prepare('INSERT INTO observations VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
    findTrace: database.prepare('SELECT trace, crc FROM executions WHERE id = ?'),
    keepTrace: database.prepare('INSERT INTO executions VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
    size: database.prepare(
      `SELECT (SELECT COUNT(*) FROM evaluations) AS evaluations,
              (SELECT COUNT(*) FROM replies) AS replies,
              (SELECT COUNT(*) FROM executions) AS traces`,
    ),
    // Without the rows' checksums, which would need every reply to be read: a flipped bit in a count may go unnoticed.
    spending: database.prepare(
      `SELECT COUNT(*) AS calls,
              COALESCE(SUM(json_extract(reply, '$.usage.input')), 0) AS input,
              COALESCE(SUM(json_extract(reply, '$.usage.cachedInput')), 0) AS cachedInput,
              COALESCE(SUM(json_extract(reply, '$.usage.output')), 0) AS output,
              COUNT(*) - COUNT(json_extract(reply, '$.usage.input')) AS unknown
       FROM replies INDEXED BY reply_usage`,
    ),
  }
}

function digestBytes(key: EvaluationKey): Buffer {
  return Buffer.from(evaluationDigest(key), 'hex')
}

function keyParts({ graph, task, dataVersion, executor }: EvaluationKey): string[] {
  return [graph, task, dataVersion, executor]
}

function checksum(...parts: readonly (string | number)[]): number {
  return crc32(JSON.stringify(parts))
}
