import { setTimeout as sleep } from 'node:timers/promises'
import {
  LedgerDamagedError,
  LedgerError,
  LedgerFullError,
  LedgerLockedError,
  LedgerUnwritableError,
} from './ledger-error.ts'

/** The first byte of SQLite's result codes; the rest is detail. */
const code = {
  error: 1,
  busy: 5,
  locked: 6,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
}

export function isBusy(error: unknown): boolean {
  const result = resultCode(error)
  return result === code.busy || result === code.locked
}

/** What SQLite threw, as what a person can do about it; a mistake in our code stays as it is. `bytes`: what was to be written. */
export function explainFailure(error: unknown, path: string, bytes = 0): unknown {
  if (error instanceof LedgerError) return error
  const cause = { cause: error }
  const reason = error instanceof Error ? error.message : String(error)
  // A whole number that JavaScript cannot hold: none that we write is so large.
  if ((error as NodeJS.ErrnoException).code === 'ERR_OUT_OF_RANGE')
    return new LedgerDamagedError(path, reason, cause)
  switch (resultCode(error)) {
    case code.full:
      return new LedgerFullError(path, bytes, cause)
    // Our statements are fixed: if one does not fit the tables, or the file is of no kind that SQLite knows, it is the file.
    case code.error:
    case code.corrupt:
    case code.notADatabase:
      return new LedgerDamagedError(path, reason, cause)
    case code.readOnly:
    case code.io:
    case code.cannotOpen:
      return new LedgerUnwritableError(path, reason, cause)
    default:
      return error
  }
}

/**
 * Works on a database without waiting inside SQLite, whose own waiting stops the event loop: what finds it locked is tried
 * again a little later, until patience ends.
 */
export async function patiently<Result>(
  work: () => Result,
  { path, patienceMs, bytes = 0 }: { path: string; patienceMs: number; bytes?: number },
): Promise<Result> {
  const start = performance.now()
  for (let pause = 1; ; pause = Math.min(2 * pause, 50)) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error)) throw explainFailure(error, path, bytes)
      if (performance.now() - start >= patienceMs) throw new LedgerLockedError(path, patienceMs)
    }
    await sleep(pause)
  }
}

function resultCode(error: unknown): number | undefined {
  const { errcode } = (error ?? {}) as { errcode?: unknown }
  return typeof errcode === 'number' ? errcode & 0xff : undefined
}
