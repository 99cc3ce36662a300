import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { isBusy } from './ledger/sqlite-failure.ts'

const pollMilliseconds = 50
/** Prevents garbage collection, which would close the databases and free their locks. */
const held = new Set<DatabaseSync>()

/**
 * Runs work in one process at a time; others wait. Node cannot lock files, but SQLite can: this locks an empty
 * database, and the system releases the lock when its holder dies.
 */
export async function withFileLock<Result>(
  path: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  await mkdir(dirname(path), { recursive: true })
  let database: DatabaseSync | undefined
  try {
    for (;;) {
      try {
        database ??= new DatabaseSync(path, { timeout: 0 })
        held.add(database)
        database.exec('BEGIN EXCLUSIVE')
        break
      } catch (error) {
        if (!isBusy(error)) throw new FileLockError(path, error)
      }
      await setTimeout(pollMilliseconds, undefined, { signal })
    }
    return await work()
  } finally {
    held.delete(database!)
    database?.close()
  }
}

/** The folder is read-only, or its file system does not support locks. */
export class FileLockError extends Error {
  override name = 'FileLockError'
  constructor(path: string, cause: unknown) {
    super(`${path} cannot be locked: ${(cause as Error).message}`, { cause })
  }
}
