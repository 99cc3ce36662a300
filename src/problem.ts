import { z } from 'zod'

export const exitCode = {
  done: 0,
  /** Also: no valid answer. Trying again may help. */
  failed: 1,
  /** Wrong usage, configuration or input file: trying again does not help. */
  usage: 2,
  /** A budget's cap was reached. Everything is kept, and a resume with a higher cap continues. */
  capReached: 3,
  /** A score is below the requested threshold. */
  belowThreshold: 4,
  /** The model refused key, money or permission. */
  refused: 5,
  /** Something could not be written or read: no room, no permission, or a broken disk. */
  disk: 6,
  /**
   * The model cannot be reached or rejects everything, or the sandbox fails even after restarts. Unfinished work was not
   * stored; a resume continues.
   */
  unavailable: 7,
  interrupted: 130,
} as const

export interface ProblemOptions extends ErrorOptions {
  /** The command's exit code. Default: wrong usage. */
  readonly exitCode?: number
}

/**
 * A failure that the user can fix: the message says how, so commands print it without a stack trace. Subclasses exist
 * only for failures that are caught by type. Any other error is a bug.
 */
export class Problem extends Error {
  readonly exitCode: number

  constructor(message: string, { exitCode: code = exitCode.usage, ...options }: ProblemOptions = {}) {
    super(message, options)
    this.name = new.target.name
    this.exitCode = code
  }
}

/** Whether a budget's cap ended the work, in this process or in another. */
export function isCapReached(error: unknown): boolean {
  return error instanceof Problem && error.exitCode === exitCode.capReached
}

/** What a caller gave, checked and with its defaults. A `Problem` names every field that is wrong. */
export function validated<Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
  what: string,
): z.output<Schema> {
  const { data, error } = schema.safeParse(given)
  if (error === undefined) return data
  throw new Problem(`The ${what} settings are not valid.\n${z.prettifyError(error)}`)
}
