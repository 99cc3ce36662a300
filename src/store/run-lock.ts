import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { exitCode, Problem } from '../problem.ts'
import { LedgerError } from './ledger/ledger-error.ts'
import { inTransaction } from './ledger/ledger-file.ts'
import { explainFailure, isBusy, patiently } from './ledger/sqlite-failure.ts'

interface LockHolder {
  readonly pid: number
  readonly host: string
  /** ISO 8601. */
  readonly since: string
}

export class RunLockedError extends Problem {
  /** Undefined if it could not be read in time. */
  readonly holder: LockHolder | undefined

  constructor(folder: string, holder: LockHolder | undefined) {
    const who = holder && `process ${holder.pid} on ${holder.host} since ${holder.since}`
    super(
      `The run ${folder} is in use by ${who ?? 'another process'}. Wait for it, stop it, or choose another run folder.`,
      { exitCode: exitCode.failed },
    )
    this.holder = holder
  }
}

/** Prevents garbage collection, which would close the databases and free their locks. */
const held = new Set<DatabaseSync>()

/** How long a second writer tries before it is refused. */
const patienceMs = 400

/**
 * One writer per run folder. The lock is an open transaction on `lock.sqlite`: the system frees it however its
 * process ends, so it is never stale. A process that holds it must not open the file elsewhere: closing it there
 * would free the lock.
 */
export class RunLock {
  readonly #database: DatabaseSync

  private constructor(database: DatabaseSync) {
    this.#database = database
    held.add(database)
  }

  /** Rejects with `RunLockedError` within a second if there is another writer. */
  static async acquire(folder: string): Promise<RunLock> {
    const path = join(folder, 'lock.sqlite')
    let database: DatabaseSync | undefined
    try {
      database = new DatabaseSync(path, { timeout: 0 })
      const deadline = performance.now() + patienceMs
      const token = crypto.randomUUID()
      while (!take(database, token)) {
        if (performance.now() >= deadline) throw new RunLockedError(folder, await holderIn(database, path))
        await sleep(20)
      }
      return new RunLock(database)
    } catch (error) {
      database?.close()
      const explained = explainFailure(error, path)
      if (!(explained instanceof LedgerError)) throw error
      throw new LedgerError(
        `The run's lock ${path} cannot be used (${(error as Error).message}). Check its folder's permissions; if no process has it open, delete it: it contains only the lock.`,
        { cause: error, exitCode: explained.exitCode },
      )
    }
  }

  release(): void {
    if (held.delete(this.#database)) this.#database.close()
  }

  [Symbol.dispose](): void {
    this.release()
  }
}

/** A commit publishes the holder's name but ends the lock, so the name is written first and the lock taken again. */
function take(database: DatabaseSync, token: string): boolean {
  try {
    inTransaction(database, () => {
      database.exec(
        'CREATE TABLE IF NOT EXISTS holder (pid INTEGER, host TEXT, since TEXT, token TEXT); DELETE FROM holder',
      )
      const insert = database.prepare('INSERT INTO holder VALUES (?, ?, ?, ?)')
      insert.run(process.pid, hostname(), new Date().toISOString(), token)
    })
    database.exec('BEGIN IMMEDIATE')
    if (database.prepare('SELECT token FROM holder').get()?.['token'] === token) return true
    database.exec('ROLLBACK')
    return false
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    if (!isBusy(error)) throw error
    return false
  }
}

async function holderIn(database: DatabaseSync, path: string): Promise<LockHolder | undefined> {
  const read = () => database.prepare('SELECT pid, host, since FROM holder').get()
  // The row may not exist yet, or be locked by its writer.
  const row = await patiently(read, { path, patienceMs: 200 }).catch(() => undefined)
  return row && ({ ...row } as unknown as LockHolder)
}
