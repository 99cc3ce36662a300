import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { Batches } from './batches.ts'
import { Ledger, type LedgerSize, type Page, type RepliesSpending } from './ledger.ts'
import { LedgerError } from './ledger-error.ts'
import { defaultPatienceMs, inTransaction, type LedgerFileOptions, openLedgerFile } from './ledger-file.ts'
import {
  digestBytes,
  type KeyedTable,
  type LedgerTables,
  rowBytes,
  type ScoredContent,
  type ScoredRow,
  type TableName,
  type TraceRow,
} from './ledger-rows.ts'
import { damaged, type Patience, patiently } from './sqlite-failure.ts'

interface Write {
  readonly bytes: number
  readonly apply: () => unknown
}

/** A ledger in one SQLite file, or in memory. */
export class SqliteLedger extends Ledger {
  readonly #database: DatabaseSync
  readonly #patience: Patience
  readonly #readOnly: boolean
  readonly #writes: Batches<Write, unknown>
  readonly #statements: Statements

  private constructor(database: DatabaseSync, statements: Statements, patience: Patience, readOnly: boolean) {
    super()
    this.#database = database
    this.#statements = statements
    this.#patience = patience
    this.#readOnly = readOnly
    // One transaction, on disk when this resolves; retried if the database is locked.
    this.#writes = new Batches((writes) => {
      const bytes = writes.reduce((sum, write) => sum + write.bytes, 0)
      return patiently(
        () => inTransaction(database, () => writes.map(({ apply }) => apply())),
        patience,
        bytes,
      )
    })
  }

  /** `:memory:` opens one that ends with the process. */
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

  async size(): Promise<LedgerSize> {
    return { ...(await this.#get<LedgerSize>(this.#statements.size))! }
  }

  async spending(): Promise<RepliesSpending> {
    return { ...(await this.#get<RepliesSpending>(this.#statements.spending))! }
  }

  async close(): Promise<void> {
    await this.#writes.settled()
    if (this.#database.isOpen) this.#database.close()
  }

  async page<Table extends TableName>(
    table: Table,
    after: string | undefined,
    limit: number,
  ): Promise<Page<LedgerTables[Table]>> {
    const isPlaced = table === 'evaluations'
    const from = isPlaced ? Number(after ?? 0) : (after ?? '')
    const rows = await this.#all<LedgerTables[Table] & { at: number | string }>(
      this.#statements[table].page,
      from,
      limit,
    )
    const next = rows.length < limit ? undefined : String(rows.at(-1)!.at)
    return { rows, next }
  }

  async takeOver<Table extends TableName>(table: Table, rows: readonly LedgerTables[Table][]): Promise<void> {
    await this.#write(0, () => {
      for (const row of rows) this.#insert(table, row)
    })
  }

  protected findEvaluationRow(digest: Buffer): Promise<ScoredContent | undefined> {
    return this.#get<ScoredContent>(this.#statements.evaluations.find, digest)
  }

  protected findRow<Table extends KeyedTable>(
    table: Table,
    key: string,
  ): Promise<LedgerTables[Table] | undefined> {
    return this.#get(this.#statements[table].find, key)
  }

  protected keepEvaluationRow(digest: Buffer, row: ScoredRow, trace: TraceRow): Promise<boolean> {
    return this.#write(rowBytes(row) + rowBytes(trace), () => {
      this.#insert('executions', trace)
      return this.#insertEvaluation(digest, row)
    })
  }

  protected keepRow<Table extends KeyedTable>(table: Table, row: LedgerTables[Table]): Promise<void> {
    return this.#write(rowBytes(row), () => this.#insert(table, row))
  }

  protected taskRows(task: string): Promise<ScoredRow[]> {
    return this.#all<ScoredRow>(this.#statements.evaluations.ofTask, task)
  }

  protected damagedRow(what: string): LedgerError {
    return damaged(this.#patience.path, what)
  }

  #insert<Table extends TableName>(table: Table, row: LedgerTables[Table]): void {
    const { keep } = this.#statements[table]
    if ('trace' in row) keep.run(row.execution, row.trace, row.crc)
    else if ('json' in row) keep.run(row.digest, row.json, row.crc)
    else this.#insertEvaluation(digestBytes(row), row)
  }

  #insertEvaluation(digest: Buffer, row: ScoredRow): boolean {
    const { graph, task, dataVersion, executor, score, status, execution, detail, crc } = row
    const parts = [graph, task, dataVersion, executor, score, status, execution, detail, crc]
    return this.#statements.evaluations.keep.run(digest, ...parts).changes === 1
  }

  #get<Row>(statement: StatementSync, ...parameters: (string | Uint8Array)[]): Promise<Row | undefined> {
    return patiently(() => statement.get(...parameters) as Row | undefined, this.#patience)
  }

  #all<Row>(statement: StatementSync, ...parameters: (string | number)[]): Promise<Row[]> {
    return patiently(() => statement.all(...parameters) as Row[], this.#patience)
  }

  async #write<Result>(bytes: number, apply: () => Result): Promise<Result> {
    if (this.#readOnly) throw new LedgerError(`The ledger ${this.#patience.path} is open for reading only.`)
    // In memory there is no need to batch for the disk.
    if (this.#patience.path === ':memory:') return apply()
    return (await this.#writes.add({ bytes, apply })) as Result
  }
}

type Statements = ReturnType<typeof prepare>

function prepare(database: DatabaseSync) {
  const key = 'graph, task, data_version AS dataVersion, executor'
  const content = 'score, status, execution, detail, crc'
  const pageOf = (table: string, columns: string, at: string) =>
    database.prepare(`SELECT ${columns}, ${at} AS at FROM ${table} WHERE ${at} > ? ORDER BY ${at} LIMIT ?`)
  const keyed = (table: KeyedTable, columns: string, at: string) => ({
    find: database.prepare(`SELECT ${columns} FROM ${table} WHERE ${at} = ?`),
    keep: database.prepare(`INSERT INTO ${table} VALUES (?, ?, ?) ON CONFLICT DO NOTHING`),
    page: pageOf(table, columns, at),
  })
  return {
    executions: keyed('executions', 'id AS execution, trace, crc', 'id'),
    replies: keyed('replies', 'digest, reply AS json, crc', 'digest'),
    observations: keyed('observations', 'digest, observation AS json, crc', 'digest'),
    evaluations: {
      find: database.prepare(`SELECT ${content} FROM evaluations WHERE key = ?`),
      keep: database.prepare(
        `INSERT INTO evaluations (key, graph, task, data_version, executor, ${content})
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
      ),
      page: pageOf('evaluations', `${key}, ${content}`, 'place'),
      ofTask: database.prepare(`SELECT ${key}, ${content} FROM evaluations WHERE task = ? ORDER BY place`),
    },
    size: database.prepare(
      `SELECT (SELECT COUNT(*) FROM evaluations) AS evaluations,
              (SELECT COUNT(*) FROM replies) AS replies,
              (SELECT COUNT(*) FROM executions) AS traces`,
    ),
    // Does not verify checksums, which would mean reading every reply: a flipped bit in a count may go unnoticed.
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
