import { bigintArray, bytesArray, floatArray, textArray } from '../postgres/array-parameter.ts'
import type { Database } from '../postgres/database.ts'
import { Batches } from './batches.ts'
import { Ledger, type LedgerSize, type Page, type RepliesSpending } from './ledger.ts'
import { LedgerError } from './ledger-error.ts'
import {
  digestBytes,
  type KeyedTable,
  type LedgerTables,
  rowBytes,
  type ScoredContent,
  type ScoredRow,
  type TableName,
  type TextRow,
  type TraceRow,
} from './ledger-rows.ts'

/** Most bytes per statement, unless a single row is larger. */
const largestStatement = 8 * 1024 * 1024

export interface PostgresLedgerOptions {
  /** The ledger's name. Many ledgers share a database without seeing each other's rows. */
  readonly name: string
  readonly readOnly?: boolean
  /** A worker's lease: without its row in `magic_work.workers`, no evaluation is written. */
  readonly lease?: string
  /** Called on close, to close a database of its own. */
  readonly onClose?: () => Promise<void>
}

interface KeptEvaluation {
  readonly digest: Buffer
  readonly row: ScoredRow
  readonly trace: TraceRow
}

/** A worker's lease has expired: others have its work, and it may no longer write. */
export class LeaseLost extends Error {
  constructor() {
    super('The lease expired: the work was given to others.')
  }
}

const leaseHeld = 'SELECT 1 FROM magic_work.workers WHERE id ='

/**
 * A ledger in PostgreSQL, for any number of concurrent processes: the first row under a key wins, whoever writes it.
 * Concurrent requests are combined into one statement.
 */
export class PostgresLedger extends Ledger {
  readonly #database: Database
  readonly #id: number
  readonly #options: PostgresLedgerOptions
  readonly #evaluations: {
    readonly finds: Batches<Buffer, ScoredContent | undefined>
    readonly keeps: Batches<KeptEvaluation, boolean>
  }
  readonly #finds: { readonly [Table in KeyedTable]: Batches<string, LedgerTables[Table] | undefined> }
  readonly #keeps: { readonly [Table in KeyedTable]: Batches<LedgerTables[Table], void> }

  private constructor(database: Database, id: number, options: PostgresLedgerOptions) {
    super()
    this.#database = database
    this.#id = id
    this.#options = options
    const finds = <Table extends KeyedTable>(table: Table) =>
      new Batches<string, LedgerTables[Table] | undefined>((keys) => this.#findRows(table, keys))
    const keeps = <Table extends KeyedTable>(table: Table) =>
      new Batches<LedgerTables[Table], void>(async (rows) => {
        await this.#insert(table, rows)
        return rows.map(() => undefined)
      })
    this.#evaluations = {
      finds: new Batches((digests) => this.#findEvaluations(digests)),
      keeps: new Batches((kept) => this.#keepEvaluations(kept)),
    }
    this.#finds = {
      executions: finds('executions'),
      replies: finds('replies'),
      observations: finds('observations'),
    }
    this.#keeps = {
      executions: keeps('executions'),
      replies: keeps('replies'),
      observations: keeps('observations'),
    }
  }

  /** Creates a ledger in a database unless it exists. `title` is for display. */
  static async create(database: Database, name: string, title: string): Promise<void> {
    await database.query(
      'INSERT INTO magic.ledgers (name, title) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING',
      [name, title],
    )
  }

  static async open(database: Database, options: PostgresLedgerOptions): Promise<PostgresLedger> {
    const rows = await database.query<{ id: number }>('SELECT id FROM magic.ledgers WHERE name = $1', [
      options.name,
    ])
    const [found] = rows
    if (found !== undefined) return new PostgresLedger(database, found.id, options)
    throw new LedgerError(
      `The database ${database.address.place} has no ledger ${options.name}. Set MAGIC_LEDGER to the one the run was started with.`,
    )
  }

  async size(): Promise<LedgerSize> {
    const [size] = await this.#database.query<LedgerSize>(
      `SELECT (SELECT count(*) FROM magic.evaluations WHERE ledger = $1) AS evaluations,
              (SELECT count(*) FROM magic.replies WHERE ledger = $1) AS replies,
              (SELECT count(*) FROM magic.executions WHERE ledger = $1) AS traces`,
      [this.#id],
    )
    return { ...size! }
  }

  async spending(): Promise<RepliesSpending> {
    const [spending] = await this.#database.query<RepliesSpending>(
      `SELECT count(*) AS calls,
              coalesce(sum(input), 0)::bigint AS input,
              coalesce(sum(cached_input), 0)::bigint AS "cachedInput",
              coalesce(sum(output), 0)::bigint AS output,
              count(*) - count(input) AS unknown
       FROM magic.replies WHERE ledger = $1`,
      [this.#id],
    )
    return { ...spending! }
  }

  async close(): Promise<void> {
    const all = [this.#evaluations, this.#finds, this.#keeps].flatMap((batches) => Object.values(batches))
    await Promise.all(all.map((batches) => batches.settled()))
    await this.#options.onClose?.()
  }

  async page<Table extends TableName>(
    table: Table,
    after: string | undefined,
    limit: number,
  ): Promise<Page<LedgerTables[Table]>> {
    const at = orderedBy[table]
    const rows = await this.#database.query<LedgerTables[Table] & { at: string | number }>(
      `SELECT ${columns[table]}, ${at} AS at FROM magic.${table}
       WHERE ledger = $1 AND ${at} > $2 ORDER BY ${at} LIMIT $3`,
      [this.#id, after ?? (table === 'evaluations' ? 0 : ''), limit],
    )
    const next = rows.length < limit ? undefined : String(rows.at(-1)!.at)
    return { rows: rows.map(plainRow), next }
  }

  async takeOver<Table extends TableName>(table: Table, rows: readonly LedgerTables[Table][]): Promise<void> {
    this.#assertWritable()
    await this.#insert(table, rows)
  }

  protected findEvaluationRow(digest: Buffer): Promise<ScoredContent | undefined> {
    return this.#evaluations.finds.add(digest)
  }

  protected findRow<Table extends KeyedTable>(
    table: Table,
    key: string,
  ): Promise<LedgerTables[Table] | undefined> {
    return this.#finds[table].add(key)
  }

  protected async keepEvaluationRow(digest: Buffer, row: ScoredRow, trace: TraceRow): Promise<boolean> {
    this.#assertWritable()
    return await this.#evaluations.keeps.add({ digest, row, trace })
  }

  protected async keepRow<Table extends KeyedTable>(table: Table, row: LedgerTables[Table]): Promise<void> {
    this.#assertWritable()
    await this.#keeps[table].add(row)
  }

  protected async taskRows(task: string): Promise<ScoredRow[]> {
    const rows = await this.#database.query<ScoredRow>(
      `SELECT ${columns.evaluations} FROM magic.evaluations WHERE ledger = $1 AND task = $2 ORDER BY place`,
      [this.#id, escaped(task)],
    )
    return rows.map(plainRow)
  }

  protected damagedRow(what: string): LedgerError {
    return new LedgerError(
      `The ledger ${this.#options.name} at ${this.#database.address.place} is damaged: ${what}. Restore the database from a copy, or delete the row; its content then has to be paid for again.`,
    )
  }

  async #findEvaluations(digests: readonly Buffer[]): Promise<(ScoredContent | undefined)[]> {
    const rows = await this.#database.query<ScoredContent & { key: Buffer }>(
      `SELECT key, score, status, execution, detail, crc FROM magic.evaluations
       WHERE ledger = $1 AND key = ANY ($2::bytea[])`,
      [this.#id, bytesArray(digests)],
    )
    const found = new Map(rows.map(({ key, ...row }) => [key.toString('hex'), plainRow(row)]))
    return digests.map((digest) => found.get(digest.toString('hex')))
  }

  async #findRows<Table extends KeyedTable>(
    table: Table,
    keys: readonly string[],
  ): Promise<(LedgerTables[Table] | undefined)[]> {
    const rows = await this.#database.query<LedgerTables[Table]>(
      `SELECT ${columns[table]} FROM magic.${table}
       WHERE ledger = $1 AND ${orderedBy[table]} = ANY ($2::text[])`,
      [this.#id, textArray(keys.map(escaped))],
    )
    const found = new Map(rows.map(plainRow).map((row) => ['trace' in row ? row.execution : row.digest, row]))
    return keys.map((key) => found.get(key))
  }

  /** Returns for each row whether it is new. */
  async #keepEvaluations(kept: readonly KeptEvaluation[]): Promise<boolean[]> {
    const isNew: boolean[] = []
    for (const part of inParts(kept, ({ row, trace }) => rowBytes(row) + rowBytes(trace))) {
      // The lease cannot end before the statement does. The trace is stored in any case, since it cost something.
      const { lease } = this.#options
      const held = lease === undefined ? 'SELECT 1' : `${leaseHeld} $15 FOR KEY SHARE`
      const rows = await this.#database.query<{ key: Buffer | null; execution: string; held: number }>(
        `WITH held AS (${held}), traces AS (${insertTraces('$1', 12)}),
           kept AS (${insertEvaluations('$1', 'WHERE EXISTS (SELECT FROM held)')} RETURNING key, execution)
         SELECT kept.key, kept.execution, lease.held
         FROM (SELECT count(*) AS held FROM held) AS lease LEFT JOIN kept ON true`,
        [
          ...[this.#id, ...evaluationParameters(part), ...traceParameters(part.map(({ trace }) => trace))],
          ...(lease === undefined ? [] : [lease]),
        ],
      )
      if (rows[0]!.held === 0) throw new LeaseLost()
      const written = new Set(
        rows.flatMap(({ key, execution }) => (key === null ? [] : [`${key.toString('hex')} ${execution}`])),
      )
      for (const { digest, row } of part)
        isNew.push(written.has(`${digest.toString('hex')} ${escaped(row.execution)}`))
    }
    return isNew
  }

  async #insert<Table extends TableName>(table: Table, rows: readonly LedgerTables[Table][]): Promise<void> {
    for (const part of inParts(rows, rowBytes)) {
      const [text, values] = insertion(table, part)
      await this.#database.query(text, [this.#id, ...values])
    }
  }

  #assertWritable(): void {
    if (this.#options.readOnly === true)
      throw new LedgerError(`The ledger at ${this.#database.address.place} is open for reading only.`)
  }
}

const columns: Readonly<Record<TableName, string>> = {
  executions: 'id AS execution, trace, crc',
  evaluations: 'graph, task, data_version AS "dataVersion", executor, score, status, execution, detail, crc',
  replies: 'digest, reply AS json, crc',
  observations: 'digest, observation AS json, crc',
}

/** The column that orders the rows; in the keyed tables it is the key. */
const orderedBy: Readonly<Record<TableName, string>> = {
  executions: 'id',
  evaluations: 'place',
  replies: 'digest',
  observations: 'digest',
}

// Rows are inserted in key order: two writers with different orders could deadlock.

/** Array parameters, numbered from `first`. */
function insertTraces(ledger: string, first: number): string {
  return `INSERT INTO magic.executions
    SELECT ${ledger}, t.* FROM unnest($${first}::text[], $${first + 1}::bytea[], $${first + 2}::bigint[]) AS t (id, trace, crc)
    ORDER BY id ON CONFLICT DO NOTHING`
}

function traceParameters(rows: readonly TraceRow[]): Buffer[] {
  return [
    textArray(rows.map(({ execution }) => escaped(execution))),
    bytesArray(rows.map(({ trace }) => trace)),
    bigintArray(rows.map(({ crc }) => crc)),
  ]
}

/** Numbered in the order the rows were stored. */
function insertEvaluations(ledger: string, where = ''): string {
  return `INSERT INTO magic.evaluations
    SELECT ${ledger}, key, place, graph, task, data_version, executor, score, status, execution, detail, crc
    FROM (SELECT nextval('magic.places') AS place, t.*
          FROM unnest($2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::float8[], $8::text[], $9::text[],
                      $10::text[], $11::bigint[])
            AS t (key, graph, task, data_version, executor, score, status, execution, detail, crc) OFFSET 0) AS placed
    ${where}
    ORDER BY key, place ON CONFLICT DO NOTHING`
}

function evaluationParameters(
  kept: readonly { readonly digest: Buffer; readonly row: ScoredRow }[],
): Buffer[] {
  const texts = (of: (row: ScoredRow) => string) => textArray(kept.map(({ row }) => escaped(of(row))))
  return [
    bytesArray(kept.map(({ digest }) => digest)),
    texts(({ graph }) => graph),
    texts(({ task }) => task),
    texts(({ dataVersion }) => dataVersion),
    texts(({ executor }) => executor),
    floatArray(kept.map(({ row }) => row.score)),
    texts(({ status }) => status),
    texts(({ execution }) => execution),
    textArray(kept.map(({ row }) => row.detail)),
    bigintArray(kept.map(({ row }) => row.crc)),
  ]
}

function insertion<Table extends TableName>(
  table: Table,
  rows: readonly LedgerTables[Table][],
): [string, Buffer[]] {
  if (table === 'executions') return [insertTraces('$1', 2), traceParameters(rows as readonly TraceRow[])]
  if (table === 'evaluations') {
    const kept = (rows as readonly ScoredRow[]).map((row) => ({ digest: digestBytes(row), row }))
    return [insertEvaluations('$1'), evaluationParameters(kept)]
  }
  const texts = rows as readonly TextRow[]
  const values = [
    textArray(texts.map(({ digest }) => escaped(digest))),
    textArray(texts.map(({ json }) => json)),
    bigintArray(texts.map(({ crc }) => crc)),
  ]
  if (table === 'observations')
    return [
      `INSERT INTO magic.observations SELECT $1, t.* FROM unnest($2::text[], $3::text[], $4::bigint[]) AS t (digest, json, crc)
       ORDER BY digest ON CONFLICT DO NOTHING`,
      values,
    ]
  const usages = texts.map(({ json }) => (JSON.parse(json) as { usage?: Partial<RepliesSpending> }).usage)
  const tokens = (['input', 'cachedInput', 'output'] as const).map((kind) =>
    bigintArray(usages.map((usage) => usage?.[kind])),
  )
  return [
    `INSERT INTO magic.replies
     SELECT $1, t.* FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
       AS t (digest, json, crc, input, cached_input, output)
     ORDER BY digest ON CONFLICT DO NOTHING`,
    [...values, ...tokens],
  ]
}

function* inParts<Item>(items: readonly Item[], sizeOfItem: (item: Item) => number): Generator<Item[]> {
  let part: Item[] = []
  let size = 0
  for (const item of items) {
    const more = sizeOfItem(item)
    if (part.length > 0 && size + more > largestStatement) {
      yield part
      part = []
      size = 0
    }
    part.push(item)
    size += more
  }
  if (part.length > 0) yield part
}

/** PostgreSQL text cannot contain zero characters, so texts are stored JSON-escaped. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

const escapedColumns = ['graph', 'task', 'dataVersion', 'executor', 'status', 'execution', 'digest'] as const

/** A row with its texts unescaped, without the paging column. */
function plainRow<Row extends object>(row: Row): Row {
  const { at: _, ...plain } = row as Row & { at?: unknown } & Record<string, unknown>
  for (const name of escapedColumns) {
    const text = plain[name]
    if (typeof text === 'string' && text.includes('\\'))
      (plain as Record<string, unknown>)[name] = JSON.parse(`"${text}"`)
  }
  return plain as unknown as Row
}
