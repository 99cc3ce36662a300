import { exitCode, Problem, type ProblemOptions } from '../../problem.ts'

/** A ledger that cannot be used as it is; the message says what a person can do about it. */
export class LedgerError extends Problem {
  readonly path: string

  constructor(path: string, message: string, options?: ProblemOptions) {
    super(message, options)
    this.path = path
  }
}

export class LedgerLockedError extends LedgerError {
  constructor(path: string, waitedMs: number) {
    super(
      path,
      `The ledger ${path} stayed locked by another process for ${waitedMs / 1000} s. End that process (\`fuser ${path}\` names it) and resume.`,
      { exitCode: exitCode.failed },
    )
  }
}

export class LedgerDamagedError extends LedgerError {
  constructor(path: string, what: string, options?: ErrorOptions) {
    super(
      path,
      `The ledger ${path} is damaged: ${what}. Put a copy in its place, or move it away together with its -wal and -shm files: a new one is made, and what it held is paid for again.`,
      options,
    )
  }
}

export class LedgerFormatError extends LedgerError {
  constructor(path: string, found: number, known: number) {
    super(
      path,
      `The ledger ${path} has format ${found}; this version knows format ${known}. Use the version that wrote it, or a newer one, or begin in another run folder.`,
    )
  }
}

export class LedgerFullError extends LedgerError {
  constructor(path: string, bytes: number, options?: ErrorOptions) {
    super(
      path,
      `There is no room for ${bytes} bytes more in the ledger ${path}. What it holds is intact: make room on the disk and resume.`,
      { ...options, exitCode: exitCode.disk },
    )
  }
}

export class LedgerUnwritableError extends LedgerError {
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(
      path,
      `The ledger ${path} could not be read or written (${reason}). Check its disk, its folder and their permissions, and resume.`,
      { ...options, exitCode: exitCode.disk },
    )
  }
}

export class UnsoundSqliteError extends LedgerError {
  constructor(path: string, version: string) {
    super(
      path,
      `This Node.js (${process.version}) brings SQLite ${version}, which can damage a file that several connections use. Update Node.js to one with SQLite 3.51.3 or newer (\`node -p process.versions.sqlite\`).`,
    )
  }
}
