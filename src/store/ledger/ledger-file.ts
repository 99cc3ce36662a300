import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { exitCode } from '../../problem.ts'
import { LedgerError } from './ledger-error.ts'
import { damaged, patiently } from './sqlite-failure.ts'

/** Raise this with every change of the tables that older versions would misread. */
const format = 2

const schema = `
  CREATE TABLE ledger (format INTEGER NOT NULL) STRICT;
  CREATE TABLE executions (
    id TEXT PRIMARY KEY,
    trace BLOB NOT NULL, -- JSON, compressed with zstd where that is shorter
    crc INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE evaluations (
    place INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE, -- digest of the next four
    graph TEXT NOT NULL,
    task TEXT NOT NULL,
    data_version TEXT NOT NULL,
    executor TEXT NOT NULL,
    score REAL NOT NULL,
    status TEXT NOT NULL,
    execution TEXT NOT NULL REFERENCES executions (id),
    detail TEXT NOT NULL, -- JSON: answer, failures, usage, cost
    crc INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE replies (
    digest TEXT PRIMARY KEY,
    reply TEXT NOT NULL, -- JSON
    crc INTEGER NOT NULL
  ) STRICT;
  -- Sums over all replies read only this index.
  CREATE INDEX reply_usage ON replies (
    json_extract(reply, '$.usage.input'),
    json_extract(reply, '$.usage.cachedInput'),
    json_extract(reply, '$.usage.output')
  );
  CREATE TABLE observations (
    digest TEXT PRIMARY KEY,
    observation TEXT NOT NULL, -- JSON
    crc INTEGER NOT NULL
  ) STRICT;
  INSERT INTO ledger (format) VALUES (${format});
`

/** About one second of reading. */
const largestChecked = 512 * 1024 * 1024

export interface LedgerFileOptions {
  /** For readers in other processes: they see every acknowledged write and never block the writer. */
  readonly readOnly?: boolean
  /** How long to retry a locked file before it is an error. */
  readonly patienceMs?: number
  /** A cap on the file size, in pages of 4 KiB. Reaching it acts like a full disk. */
  readonly maxPages?: number
}

export const defaultPatienceMs = 10_000

/**
 * Opens or creates a ledger's file, or one in memory (`:memory:`). Throws for damaged or foreign files before
 * changing anything.
 */
export async function openLedgerFile(path: string, options: LedgerFileOptions = {}): Promise<DatabaseSync> {
  try {
    return await openAt(path, path, options)
  } catch (error) {
    const isUnwritable = error instanceof LedgerError && error.exitCode === exitCode.disk
    if (!(options.readOnly === true && isUnwritable && existsSync(path))) throw error
    return await openUnwritable(path, options)
  }
}

/**
 * Opens a ledger in a folder that is not writable. SQLite reads a write-ahead log only with an index next to it,
 * which it cannot create there. Without a log nobody is writing, and the file alone is complete; a log left by a kill
 * is read from a copy.
 */
async function openUnwritable(path: string, options: LedgerFileOptions): Promise<DatabaseSync> {
  const log = `${path}-wal`
  if (!existsSync(log) || statSync(log).size === 0) {
    const alone = pathToFileURL(path)
    alone.searchParams.set('immutable', '1')
    return await openAt(alone, path, options)
  }
  const folder = mkdtempSync(join(tmpdir(), 'magic-ledger-'))
  try {
    const copy = join(folder, 'ledger.sqlite')
    copyFileSync(path, copy)
    copyFileSync(log, `${copy}-wal`)
    return await openAt(copy, path, options)
  } finally {
    // Open files stay readable.
    rmSync(folder, { recursive: true, force: true })
  }
}

async function openAt(place: string | URL, path: string, options: LedgerFileOptions): Promise<DatabaseSync> {
  const { readOnly = false, patienceMs = defaultPatienceMs, maxPages } = options
  const patience = { path, patienceMs }
  const database = await patiently(() => new DatabaseSync(place, { readOnly, timeout: 0 }), patience)
  try {
    await patiently(() => setUp(database, path, readOnly, maxPages), patience)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** May be called again if the file was locked. */
function setUp(database: DatabaseSync, path: string, readOnly: boolean, maxPages: number | undefined): void {
  assertSoundSqlite(database)
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -65536')
  const found = formatOf(database, path)
  if (found !== undefined && found !== format)
    throw new LedgerError(
      `The ledger ${path} has format ${found}; this version knows format ${format}. Use the version that wrote it or a newer one, or start in another run folder.`,
    )
  if (readOnly) {
    if (found === undefined) throw new LedgerError(`There is no ledger in ${path} yet.`)
    return
  }
  makeDurable(database, path)
  if (maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${Math.trunc(maxPages)}`)
  if (found !== undefined) checkPages(database, path)
  else
    inTransaction(database, () => {
      // Another process may have created them meanwhile.
      if (formatOf(database, path) === undefined) database.exec(schema)
    })
}

/** Undefined for a new file. */
function formatOf(database: DatabaseSync, path: string): number | undefined {
  const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  if (names.length === 0) return undefined
  if (!names.some(({ name }) => name === 'ledger'))
    throw new LedgerError(`${path} is an SQLite file, but not a ledger. Choose another path.`)
  const row = database.prepare('SELECT format FROM ledger').get()
  if (row === undefined) throw damaged(path, 'it does not say its format')
  return row['format'] as number
}

/** Uses a write-ahead log, so that readers and the writer do not block each other. A commit is on disk when it returns. */
function makeDurable(database: DatabaseSync, path: string): void {
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode']
  if (mode !== 'wal' && mode !== 'memory')
    throw new LedgerError(`SQLite cannot use shared memory at ${path}. Use a folder on a local disk.`)
  database.exec('PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864')
}

/**
 * Finds broken pages before anything is paid for. In large files this would take seconds, so there they are found
 * when read: truncation shows immediately, and rows have checksums.
 */
function checkPages(database: DatabaseSync, path: string): void {
  if (statSync(path).size > largestChecked) return
  const verdict = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']
  if (verdict !== 'ok') throw damaged(path, String(verdict))
}

/** `IMMEDIATE`, because a transaction that starts by reading may be refused when it writes, without remedy. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // After some failures, such as a full disk, SQLite has already ended it.
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function assertSoundSqlite(database: DatabaseSync): void {
  const version = String(database.prepare('SELECT sqlite_version() AS version').get()?.['version'])
  if (isSoundSqlite(version)) return
  throw new LedgerError(
    `This Node.js (${process.version}) has SQLite ${version}, which can damage a file used by several connections. Update Node.js to one with SQLite 3.51.3 or newer (\`node -p process.versions.sqlite\`).`,
  )
}

/** Older versions can corrupt a write-ahead log used by several connections; the fix was backported to two older lines. */
export function isSoundSqlite(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  if (major !== 3) return major > 3
  if (minor === 50) return patch >= 7
  if (minor === 44) return patch >= 6
  return minor > 51 || (minor === 51 && patch >= 3)
}
