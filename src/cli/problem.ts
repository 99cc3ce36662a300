import { inspect } from 'node:util'
import { ConfigurationError } from '../configuration/configuration-error.ts'
import { HubUnavailableError } from '../encoder/hub-file.ts'
import { ModelFileError } from '../encoder/minilm-encoder.ts'
import { IncompleteModelFolderError } from '../encoder/minilm-files.ts'
import { TokenizerFileError } from '../encoder/minilm-tokenizer.ts'
import { MissingPackageError } from '../encoder/optional-package.ts'
import { BlankTaskError } from '../encoder/task-embedding.ts'
import { NothingEvaluatedError } from '../evaluation/evaluate-organisation.ts'
import { IllegalActionError } from '../graph/legality.ts'
import { NonFiniteError } from '../learning/finite.ts'
import { NonFiniteUpdateError } from '../learning/policy-learner.ts'
import { EmptySelectionError } from '../library/define-library.ts'
import { InvalidLibraryError } from '../library/library-problem.ts'
import { UnknownRoleError } from '../library/role-space.ts'
import { LibraryFileError } from '../library/yaml-library.ts'
import { ModelRefusedError } from '../models/model-refused.ts'
import { ModelUnreachableError } from '../models/model-unreachable.ts'
import { SandboxFailedError } from '../sandbox/sandbox-failed.ts'
import { InfrastructureTimeout, SandboxLost, SandboxUnavailable } from '../sandbox/unavailable.ts'
import { InvalidRewardSettingsError } from '../settings/rewards.ts'
import { CheckpointError, CheckpointWriteError } from '../store/checkpoint.ts'
import { DiskError } from '../store/disk-error.ts'
import { DamagedLineError } from '../store/durable-file.ts'
import {
  LedgerError,
  LedgerFullError,
  LedgerLockedError,
  LedgerUnwritableError,
} from '../store/ledger/ledger-error.ts'
import { RunError } from '../store/run-folder.ts'
import { RunLockedError } from '../store/run-lock.ts'
import { DataError } from '../tasks/sources/data-error.ts'
import { TaskSetError } from '../tasks/task-set.ts'
import { exitCode } from './exit-code.ts'

/** Something a person gave that cannot be used; the message says what to do about it. */
export class UsageError extends Error {
  override name = 'UsageError'
}

type Kind = abstract new (...given: never[]) => Error

/** What a person can act on, by exit code; the first that fits counts. Anything else is our mistake, and keeps its stack trace. */
const fixable: readonly (readonly [code: number, kinds: readonly Kind[]])[] = [
  [exitCode.refused, [ModelRefusedError]],
  [exitCode.unavailable, [ModelUnreachableError, SandboxFailedError, InfrastructureTimeout, SandboxLost]],
  [exitCode.disk, [DiskError, CheckpointWriteError, LedgerFullError, LedgerUnwritableError]],
  [
    exitCode.failed,
    [
      HubUnavailableError,
      LedgerLockedError,
      NonFiniteError,
      NonFiniteUpdateError,
      NothingEvaluatedError,
      RunLockedError,
    ],
  ],
  [
    exitCode.usage,
    [
      UsageError,
      BlankTaskError,
      CheckpointError,
      ConfigurationError,
      DamagedLineError,
      DataError,
      EmptySelectionError,
      IllegalActionError,
      IncompleteModelFolderError,
      InvalidLibraryError,
      InvalidRewardSettingsError,
      LedgerError,
      LibraryFileError,
      MissingPackageError,
      ModelFileError,
      RunError,
      SandboxUnavailable,
      TaskSetError,
      TokenizerFileError,
      UnknownRoleError,
    ],
  ],
]

export function explain(error: unknown): { message: string; code: number } {
  const code = codeOf(error)
  if (code !== undefined) return { message: (error as Error).message, code }
  const message = diskMessage(error)
  if (message !== undefined) return { message, code: exitCode.disk }
  return { message: inspect(error), code: exitCode.failed }
}

function codeOf(error: unknown): number | undefined {
  const code = fixable.find(([, kinds]) => kinds.some((kind) => error instanceof kind))?.[0]
  if (error instanceof LedgerError && isDiskFailure(error.cause)) return exitCode.disk
  // What made a run end tells more than that it ended.
  const isWrapped = error instanceof RunError && error.cause !== undefined
  return (isWrapped ? codeOf(error.cause) : undefined) ?? code
}

/** SQLite's own numbers: read-only, I/O error, full, cannot open. */
function isDiskFailure(cause: unknown): boolean {
  const { errcode } = (cause ?? {}) as { errcode?: number }
  return errcode !== undefined && [8, 10, 13, 14].includes(errcode & 0xff)
}

/** What the system says about files, in words. */
const diskProblems: Readonly<Record<string, readonly [problem: string, remedy: string]>> = {
  ENOSPC: ['there is no room left on its disk', 'Make room, or choose another folder'],
  EDQUOT: ['your share of its disk is used up', 'Make room, or choose another folder'],
  EACCES: ['you may not', 'Change its owner or permissions, or choose another folder'],
  EPERM: ['you may not', 'Change its owner or permissions, or choose another folder'],
  EROFS: ['its disk cannot be written to', 'Choose another folder'],
  EIO: ['its disk reports an error', 'Check the disk'],
  ENOTDIR: ['a part of the path is a file, not a folder', 'Choose another folder'],
}

const needs: Readonly<Record<string, string>> = {
  mkdir: 'made as a folder',
  open: 'opened',
  read: 'read',
  scandir: 'listed',
  write: 'written',
}

function diskMessage(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code = '', path, syscall = '' } = error as NodeJS.ErrnoException
  // Making a folder where nothing can be written is told as if the path were wrong.
  const known = diskProblems[code === 'ENOENT' && syscall === 'mkdir' ? 'EROFS' : code]
  // A write to an open file does not tell which; what else has no path is not about files.
  const what = path ?? (syscall === 'write' ? 'A file' : undefined)
  if (known === undefined || what === undefined) return undefined
  const [problem, remedy] = known
  return `${what} cannot be ${needs[syscall] ?? `used (${syscall})`}: ${problem} (${code}). ${remedy}, and try again.`
}
