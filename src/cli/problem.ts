import { inspect } from 'node:util'
import { IllegalActionError } from '../graph/legality.ts'
import { EmptySelectionError } from '../library/define-library.ts'
import { BlankTaskError } from '../library/encoder/task-embedding.ts'
import { InvalidLibraryError } from '../library/library-problem.ts'
import { UnknownRoleError } from '../library/role-space.ts'
import { LibraryFileError } from '../library/yaml-library.ts'
import { exitCode } from './exit-code.ts'

/** Something a person gave that cannot be used; the message says what to do about it. */
export class UsageError extends Error {
  override name = 'UsageError'
}

// What the person can fix. Anything else is our mistake, and keeps its stack trace.
const fixable = [
  UsageError,
  BlankTaskError,
  EmptySelectionError,
  IllegalActionError,
  InvalidLibraryError,
  LibraryFileError,
  UnknownRoleError,
]

export function explain(error: unknown): { message: string; code: number } {
  if (fixable.some((kind) => error instanceof kind))
    return { message: (error as Error).message, code: exitCode.usage }
  return { message: inspect(error), code: exitCode.failed }
}
