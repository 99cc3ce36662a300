import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'

/**
 * Work that only one process at a time may do; the others wait. Node cannot lock files, but SQLite can: the lock
 * is on an empty database that nothing is ever written to, and the system releases it when its holder dies.
 */
export async function withFileLock<Result>(
  path: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const { DatabaseSync } = await import('node:sqlite')
  await mkdir(dirname(path), { recursive: true })
  const database = orLockError(path, () => new DatabaseSync(path, { timeout: 0 }))
  try {
    while (!couldTake(path, () => database.exec('BEGIN EXCLUSIVE')))
      await setTimeout(pollMilliseconds, undefined, { ...(signal && { signal }) })
    return await work()
  } finally {
    database.close()
  }
}

/** The folder is read-only, or its file system knows no locks. */
export class FileLockError extends Error {
  override name = 'FileLockError'
}

const sqliteBusy = 5
const pollMilliseconds = 50

function orLockError<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new FileLockError(`${path} cannot be locked: ${(error as Error).message}`, { cause: error })
  }
}

function couldTake(path: string, take: () => void): boolean {
  try {
    orLockError(path, take)
    return true
  } catch (error) {
    if (((error as Error).cause as { errcode?: number }).errcode === sqliteBusy) return false
    throw error
  }
}
