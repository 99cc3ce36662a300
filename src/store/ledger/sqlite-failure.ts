import { setTimeout as sleep } from 'node:timers/promises'
import { exitCode } from '../../problem.ts'
import { LedgerError } from './ledger-error.ts'

export function damaged(path: string, what: string, options?: ErrorOptions): LedgerError {
  return new LedgerError(
    `The ledger ${path} is damaged: ${what}. Restore it from a copy, or move it away together with its -wal and -shm files: then a new one is created, and its content has to be paid for again.`,
    options,
  )
}

// The first byte of a result code says what happened (sqlite.org/rescode.html); the rest is detail.
const busy = 5
const locked = 6

export function isBusy(error: unknown): boolean {
  const result = resultCode(error)
  return result === busy || result === locked
}

/** Turns an SQLite error into one that says what to do; programming errors stay as they are. `bytes`: size of the write. */
export function explainFailure(error: unknown, path: string, bytes = 0): unknown {
  if (error instanceof LedgerError) return error
  const reason = error instanceof Error ? error.message : String(error)
  const disk = { cause: error, exitCode: exitCode.disk }
  // An integer too large for JavaScript; we never write one.
  if ((error as NodeJS.ErrnoException).code === 'ERR_OUT_OF_RANGE')
    return damaged(path, reason, { cause: error })
  switch (resultCode(error)) {
    // Our statements are fixed, so if one does not fit the tables, the file is to blame.
    case 1: // SQLITE_ERROR
    case 11: // SQLITE_CORRUPT
    case 26: // SQLITE_NOTADB
      return damaged(path, reason, { cause: error })
    case 13: // SQLITE_FULL
      return new LedgerError(
        `The disk is full: ${bytes} more bytes do not fit into the ledger ${path}. Its content is intact; free some disk space and resume.`,
        disk,
      )
    case 8: // SQLITE_READONLY
    case 10: // SQLITE_IOERR
    case 14: // SQLITE_CANTOPEN
      return new LedgerError(
        `The ledger ${path} could not be read or written (${reason}). Check its disk, its folder and their permissions, and resume.`,
        disk,
      )
    default:
      return error
  }
}

/** A ledger's file, and how long to retry while another process has locked it. */
export interface Patience {
  readonly path: string
  readonly patienceMs: number
}

/** Retries while the database is locked, for up to `patienceMs`. SQLite's own waiting would block the event loop. */
export async function patiently<Result>(work: () => Result, patience: Patience, bytes = 0): Promise<Result> {
  const { path, patienceMs } = patience
  const start = performance.now()
  for (let pause = 1; ; pause = Math.min(2 * pause, 50)) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error)) throw explainFailure(error, path, bytes)
      if (performance.now() - start >= patienceMs)
        throw new LedgerError(
          `The ledger ${path} stayed locked by another process for ${patienceMs / 1000} s. Stop that process (\`fuser ${path}\` shows it) and resume.`,
          { exitCode: exitCode.failed },
        )
    }
    await sleep(pause)
  }
}

function resultCode(error: unknown): number | undefined {
  const { errcode } = (error ?? {}) as { errcode?: unknown }
  return typeof errcode === 'number' ? errcode & 0xff : undefined
}
