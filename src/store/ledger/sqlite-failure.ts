import { setTimeout as sleep } from 'node:timers/promises'
import { exitCode, Problem } from '../../problem.ts'

/** A ledger that cannot be used as it is; the message says what a person can do about it. */
export class LedgerError extends Problem {}

export function damaged(path: string, what: string, options?: ErrorOptions): LedgerError {
  return new LedgerError(
    `The ledger ${path} is damaged: ${what}. Put a copy in its place, or move it away together with its -wal and -shm files: a new one is made, and what it held is paid for again.`,
    options,
  )
}

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
  const reason = error instanceof Error ? error.message : String(error)
  const disk = { cause: error, exitCode: exitCode.disk }
  // A whole number that JavaScript cannot hold: none that we write is so large.
  if ((error as NodeJS.ErrnoException).code === 'ERR_OUT_OF_RANGE')
    return damaged(path, reason, { cause: error })
  switch (resultCode(error)) {
    // Our statements are fixed: if one does not fit the tables, or the file is of no kind that SQLite knows, it is the file.
    case code.error:
    case code.corrupt:
    case code.notADatabase:
      return damaged(path, reason, { cause: error })
    case code.full:
      return new LedgerError(
        `There is no room for ${bytes} bytes more in the ledger ${path}. What it holds is intact: make room on the disk and resume.`,
        disk,
      )
    case code.readOnly:
    case code.io:
    case code.cannotOpen:
      return new LedgerError(
        `The ledger ${path} could not be read or written (${reason}). Check its disk, its folder and their permissions, and resume.`,
        disk,
      )
    default:
      return error
  }
}

/** A ledger's file, and how long to try again while another process has locked it. */
export interface Patience {
  readonly path: string
  readonly patienceMs: number
}

/**
 * Works on a database without waiting inside SQLite, whose own waiting stops the event loop: what finds it locked is tried
 * again a little later, until patience ends.
 */
export async function patiently<Result>(
  work: () => Result,
  { path, patienceMs }: Patience,
  bytes = 0,
): Promise<Result> {
  const start = performance.now()
  for (let pause = 1; ; pause = Math.min(2 * pause, 50)) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error)) throw explainFailure(error, path, bytes)
      if (performance.now() - start >= patienceMs)
        throw new LedgerError(
          `The ledger ${path} stayed locked by another process for ${patienceMs / 1000} s. End that process (\`fuser ${path}\` names it) and resume.`,
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
