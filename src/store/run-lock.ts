import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { exitCode, Problem } from '../problem.ts'
import { explainFailure, isBusy, LedgerError } from './ledger/sqlite-failure.ts'

export interface LockHolder {
  readonly pid: number
  readonly host: string
  /** ISO 8601. */
  readonly since: string
}

export class RunLockedError extends Problem {
  readonly folder: string
  /** Absent if it could not be read within the time. */
  readonly holder: LockHolder | undefined

  constructor(folder: string, holder: LockHolder | undefined) {
    const who = holder && `process ${holder.pid} on ${holder.host} since ${holder.since}`
    super(
      `The run ${folder} is being written by ${who ?? 'another process'}. Wait for it or end it, or choose another run folder.`,
      { exitCode: exitCode.failed },
    )
    this.folder = folder
    this.holder = holder
  }
}

/** A database that nobody refers to is closed with the next garbage: a held lock must not depend on who remembers it. */
const held = new Set<DatabaseSync>()

/** Time enough for somebody else to write who they are; then whoever comes second is refused. */
const patienceMs = 400

/**
 * One writer per run folder. The lock is an open transaction on `lock.sqlite`: the system frees it however its process ends,
 * so none is ever stale. Nothing else may open that file in a process that holds it: closing it there would free the lock.
 */
export class RunLock {
  readonly #database: DatabaseSync

  private constructor(database: DatabaseSync) {
    this.#database = database
    held.add(database)
  }

  /** Rejects with `RunLockedError` within a second if another writer is at work. */
  static async acquire(folder: string): Promise<RunLock> {
    const path = join(folder, 'lock.sqlite')
    const deadline = performance.now() + patienceMs
    let database: DatabaseSync | undefined
    try {
      database = new DatabaseSync(path, { timeout: 0 })
      if (await takeBefore(deadline, database)) return new RunLock(database)
      throw new RunLockedError(folder, await holderIn(database))
    } catch (error) {
      database?.close()
      const explained = explainFailure(error, path)
      throw explained instanceof LedgerError ? unusable(path, error as Error, explained) : error
    }
  }

  release(): void {
    if (held.delete(this.#database)) this.#database.close()
  }
}

function unusable(path: string, cause: Error, { exitCode }: LedgerError): LedgerError {
  const message = `The run's lock ${path} cannot be used (${cause.message}). Check its folder's permissions; if no process has it open, delete it: it holds nothing but the lock.`
  return new LedgerError(message, { cause, exitCode })
}

async function takeBefore(deadline: number, database: DatabaseSync): Promise<boolean> {
  const self: LockHolder = { pid: process.pid, host: hostname(), since: new Date().toISOString() }
  const token = crypto.randomUUID()
  for (;;) {
    try {
      if (take(database, self, token)) return true
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() >= deadline) return false
    }
    await sleep(20)
  }
}

/**
 * Others can read only what is committed, and a commit ends the lock: so the name is written first and the lock taken
 * again, which counts if nobody else has come between.
 */
function take(database: DatabaseSync, { pid, host, since }: LockHolder, token: string): boolean {
  try {
    database.exec('BEGIN IMMEDIATE')
    database.exec(
      'CREATE TABLE IF NOT EXISTS holder (pid INTEGER, host TEXT, since TEXT, token TEXT); DELETE FROM holder',
    )
    database.prepare('INSERT INTO holder VALUES (?, ?, ?, ?)').run(pid, host, since, token)
    database.exec('COMMIT')
    database.exec('BEGIN IMMEDIATE')
    if (database.prepare('SELECT token FROM holder').get()?.['token'] === token) return true
    database.exec('ROLLBACK')
    return false
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

async function holderIn(database: DatabaseSync): Promise<LockHolder | undefined> {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    try {
      const row = database.prepare('SELECT pid, host, since FROM holder').get()
      return row && ({ ...row } as unknown as LockHolder)
    } catch {
      // It is being written, or not there yet.
      await sleep(20)
    }
  }
  return undefined
}
