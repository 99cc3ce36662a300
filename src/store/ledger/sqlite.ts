import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import type { Trace } from '../../execution/trace/trace.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { ChatAnswer } from '../../models/chat-model.ts'
import { assertStorable, type Evaluation, type EvaluationKey, evaluationDigest } from './evaluation.ts'
import {
  assertAnswer,
  type EvaluationLedger,
  type LedgerEntry,
  type LedgerSize,
  type Spending,
} from './evaluation-ledger.ts'
import { GroupCommit } from './group-commit.ts'
import { LedgerDamagedError, LedgerError } from './ledger-error.ts'
import { defaultPatienceMs, type LedgerFileOptions, openLedgerFile } from './ledger-file.ts'
import { patiently } from './sqlite-failure.ts'
import { decodeTrace, encodeTrace } from './trace-codec.ts'

const pageOfEntries = 256

/**
 * A ledger in one SQLite file. SQLite checks its pages but not what stands in them, so every row carries a checksum with its
 * key: a flipped bit is an error or a row that is not found, never another score.
 */
export class SqliteLedger implements EvaluationLedger {
  readonly path: string
  readonly #database: DatabaseSync
  readonly #patience: { readonly path: string; readonly patienceMs: number }
  readonly #readOnly: boolean
  readonly #commits: GroupCommit
  readonly #statements: Statements

  private constructor(
    database: DatabaseSync,
    statements: Statements,
    path: string,
    options: LedgerFileOptions,
  ) {
    const { patienceMs = defaultPatienceMs, readOnly = false } = options
    this.path = path
    this.#database = database
    this.#patience = { path, patienceMs }
    this.#readOnly = readOnly
    this.#commits = new GroupCommit(database, this.#patience)
    this.#statements = statements
  }

  static async open(path: string, options: LedgerFileOptions = {}): Promise<SqliteLedger> {
    const { patienceMs = defaultPatienceMs } = options
    const database = await openLedgerFile(path, options)
    try {
      const statements = await patiently(() => prepare(database), { path, patienceMs })
      return new SqliteLedger(database, statements, path, options)
    } catch (error) {
      database.close()
      throw error
    }
  }

  async find(key: EvaluationKey): Promise<Evaluation | undefined> {
    const digest = evaluationDigest(key)
    const row = await this.#get(this.#statements.findEvaluation, Buffer.from(digest, 'hex'))
    return row === undefined ? undefined : this.#readEvaluation(key, row)
  }

  async keep(key: EvaluationKey, evaluation: Evaluation, trace: Trace): Promise<Evaluation> {
    assertStorable(evaluation, trace)
    this.#assertWritable()
    const { graph, task, dataVersion, executor } = key
    const { score, status, execution, ...rest } = evaluation
    const detail = JSON.stringify(rest)
    const digest = Buffer.from(evaluationDigest(key), 'hex')
    const crc = checksum(...keyParts(key), score, status, execution, detail)
    const keepExecution = this.#keepingTrace(trace)
    const { changes } = await this.#commits.write(keepExecution.bytes + detail.length, () => {
      keepExecution.apply()
      return this.#statements.keepEvaluation.run(
        digest,
        graph,
        task,
        dataVersion,
        executor,
        score,
        status,
        execution,
        detail,
        crc,
      )
    })
    return changes === 1 ? evaluation : (await this.find(key))!
  }

  findReply(digest: string): Promise<ChatAnswer | undefined> {
    return this.#findJson(this.#statements.findReply, digest, 'the reply to request')
  }

  async keepReply(digest: string, answer: ChatAnswer): Promise<void> {
    assertAnswer(answer)
    await this.#keepJson(this.#statements.keepReply, digest, answer)
  }

  findObservation(digest: string): Promise<JsonValue | undefined> {
    return this.#findJson(this.#statements.findObservation, digest, 'the tool observation')
  }

  keepObservation(digest: string, observation: JsonValue): Promise<void> {
    return this.#keepJson(this.#statements.keepObservation, digest, observation)
  }

  async findTrace(execution: string): Promise<Trace | undefined> {
    const row = await this.#get(this.#statements.findTrace, execution)
    if (row === undefined) return undefined
    const { trace, crc } = row as { trace: Uint8Array; crc: number }
    // A flipped bit may also have made it something else than bytes.
    if (!(trace instanceof Uint8Array) || crc32(trace, crc32(execution)) !== crc)
      throw this.#damaged(`the trace of execution ${execution}`)
    return decodeTrace(trace)
  }

  async keepTrace(trace: Trace): Promise<void> {
    this.#assertWritable()
    const { bytes, apply } = this.#keepingTrace(trace)
    await this.#commits.write(bytes, apply)
  }

  async *entries(): AsyncIterable<LedgerEntry> {
    // By pages, so that no read transaction stays open: that would keep the log from being cut.
    for (let after = 0; ; ) {
      const page = await patiently(
        () => this.#statements.listEvaluations.all(after, pageOfEntries) as unknown as ListedRow[],
        this.#patience,
      )
      for (const row of page) {
        const { graph, task, data_version: dataVersion, executor } = row
        const key = { graph, task, dataVersion, executor }
        yield { key, evaluation: this.#readEvaluation(key, row) }
      }
      if (page.length < pageOfEntries) return
      after = page.at(-1)!.place
    }
  }

  async size(): Promise<LedgerSize> {
    return { ...(await this.#get(this.#statements.size)) } as unknown as LedgerSize
  }

  async spending(): Promise<Spending> {
    return { ...(await this.#get(this.#statements.spending)) } as unknown as Spending
  }

  async close(): Promise<void> {
    await this.#commits.settled()
    if (this.#database.isOpen) this.#database.close()
  }

  #get(statement: StatementSync, ...parameters: (string | Uint8Array)[]): Promise<Row | undefined> {
    return patiently(() => statement.get(...parameters), this.#patience)
  }

  async #findJson<Value>(statement: StatementSync, digest: string, what: string): Promise<Value | undefined> {
    const row = await this.#get(statement, digest)
    if (row === undefined) return undefined
    const { json, crc } = row as { json: string; crc: number }
    if (checksum(digest, json) !== crc) throw this.#damaged(`${what} ${digest}`)
    return JSON.parse(json) as Value
  }

  async #keepJson(statement: StatementSync, digest: string, value: unknown): Promise<void> {
    this.#assertWritable()
    const json = JSON.stringify(value)
    const crc = checksum(digest, json)
    await this.#commits.write(json.length, () => statement.run(digest, json, crc))
  }

  #keepingTrace(trace: Trace): { bytes: number; apply: () => void } {
    const { execution } = trace
    const encoded = encodeTrace(trace)
    const crc = crc32(encoded, crc32(execution))
    return {
      bytes: encoded.length,
      apply: () => this.#statements.keepTrace.run(execution, encoded, crc),
    }
  }

  #readEvaluation(key: EvaluationKey, row: Row): Evaluation {
    const { score, status, execution, detail, crc } = row as unknown as EvaluationRow
    if (checksum(...keyParts(key), score, status, execution, detail) !== crc)
      throw this.#damaged(`the evaluation of graph ${key.graph} on task '${key.task}'`)
    return { score, status, execution, ...(JSON.parse(detail) as DetailOfEvaluation) }
  }

  #damaged(what: string): LedgerDamagedError {
    return new LedgerDamagedError(this.path, `${what} is not what was written`)
  }

  #assertWritable(): void {
    if (this.#readOnly) throw new LedgerError(this.path, `The ledger ${this.path} is open for reading only.`)
  }
}

type Row = Record<string, unknown>
type DetailOfEvaluation = Omit<Evaluation, 'score' | 'status' | 'execution'>

interface EvaluationRow extends Pick<Evaluation, 'score' | 'status' | 'execution'> {
  readonly detail: string
  readonly crc: number
}

interface ListedRow extends EvaluationRow, Row {
  readonly place: number
  readonly graph: string
  readonly task: string
  readonly data_version: string
  readonly executor: string
}

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
      `SELECT place, graph, task, data_version, executor, ${evaluation}
       FROM evaluations WHERE place > ? ORDER BY place LIMIT ?`,
    ),
    findReply: database.prepare('SELECT reply AS json, crc FROM replies WHERE digest = ?'),
    keepReply: database.prepare(
      'INSERT INTO replies (digest, reply, crc) VALUES (?, ?, ?) ON CONFLICT (digest) DO NOTHING',
    ),
    findObservation: database.prepare('SELECT observation AS json, crc FROM observations WHERE digest = ?'),
    keepObservation: database.prepare(
      'INSERT INTO observations (digest, observation, crc) VALUES (?, ?, ?) ON CONFLICT (digest) DO NOTHING',
    ),
    findTrace: database.prepare('SELECT trace, crc FROM executions WHERE id = ?'),
    keepTrace: database.prepare(
      'INSERT INTO executions (id, trace, crc) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING',
    ),
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

function keyParts({ graph, task, dataVersion, executor }: EvaluationKey): string[] {
  return [graph, task, dataVersion, executor]
}

function checksum(...parts: readonly (string | number)[]): number {
  return crc32(JSON.stringify(parts))
}
