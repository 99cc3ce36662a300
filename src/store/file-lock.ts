import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'

const sqliteBusy = 5
const pollMilliseconds = 50

/**
 * Runs work that only one process at a time may do; the others wait. Node cannot lock files, but SQLite can: this locks
 * an empty database, and the system releases the lock when its holder dies.
 */
export async function withFileLock<Result>(
  path: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  await mkdir(dirname(path), { recursive: true })
  const database = open(path)
  try {
    while (!tryLock(database, path)) await setTimeout(pollMilliseconds, undefined, { signal })
    return await work()
  } finally {
    database.close()
  }
}

/** The folder is read-only, or its file system has no locks. */
export class FileLockError extends Error {
  override name = 'FileLockError'
  constructor(path: string, cause: unknown) {
    super(`${path} cannot be locked: ${(cause as Error).message}`, { cause })
  }
}

function open(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 })
  } catch (error) {
    throw new FileLockError(path, error)
  }
}

function tryLock(database: DatabaseSync, path: string): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if ((error as { errcode?: number }).errcode === sqliteBusy) return false
    throw new FileLockError(path, error)
  }
}
