import { inspect } from 'node:util'
import { exitCode, Problem } from '../problem.ts'
import { DownloadError } from '../store/download/download.ts'

/** Something a person gave that cannot be used; the message says what to do about it. */
export class UsageError extends Problem {}

export function explain(error: unknown): { message: string; code: number } {
  if (error instanceof Problem) return { message: error.message, code: error.exitCode }
  // What an interrupted wait throws.
  if (error instanceof Error && error.name === 'AbortError' && error.cause instanceof Problem)
    return explain(error.cause)
  if (error instanceof DownloadError) return { message: error.message, code: exitCode.failed }
  const message = diskMessage(error)
  if (message !== undefined) return { message, code: exitCode.disk }
  return { message: inspect(error), code: exitCode.failed }
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
  // `mkdir` on a read-only file system such as /proc fails with ENOENT.
  const known = diskProblems[code === 'ENOENT' && syscall === 'mkdir' ? 'EROFS' : code]
  // A failed write to an open file has no path; other errors without a path are not about files.
  const what = path ?? (syscall === 'write' ? 'A file' : undefined)
  if (known === undefined || what === undefined) return undefined
  const [problem, remedy] = known
  return `${what} cannot be ${needs[syscall] ?? `used (${syscall})`}: ${problem} (${code}). ${remedy}, and try again.`
}
