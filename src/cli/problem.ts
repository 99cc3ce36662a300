import { inspect } from 'node:util'
import { exitCode, Problem } from '../problem.ts'
import { DownloadError } from '../store/download/download.ts'

/** Input that cannot be used. The message says how to fix it. */
export class UsageError extends Problem {}

export function explain(error: unknown): { message: string; code: number } {
  if (error instanceof Problem) return { message: error.message, code: error.exitCode }
  // Thrown by an interrupted wait.
  if (error instanceof Error && error.name === 'AbortError' && error.cause instanceof Problem)
    return explain(error.cause)
  if (error instanceof DownloadError) return { message: error.message, code: exitCode.failed }
  const message = diskMessage(error)
  if (message !== undefined) return { message, code: exitCode.disk }
  return { message: inspect(error), code: exitCode.failed }
}

/** The system's error codes for files, in words. */
const diskProblems: Readonly<Record<string, readonly [problem: string, remedy: string]>> = {
  ENOSPC: ['the disk is full', 'Free some space, or choose another folder'],
  EDQUOT: ['your disk quota is used up', 'Free some space, or choose another folder'],
  EACCES: ['permission denied', 'Change its owner or permissions, or choose another folder'],
  EPERM: ['permission denied', 'Change its owner or permissions, or choose another folder'],
  EROFS: ['the disk is read-only', 'Choose another folder'],
  EIO: ['the disk reports an error', 'Check the disk'],
  ENOTDIR: ['part of the path is a file, not a folder', 'Choose another folder'],
}

const verbs: Readonly<Record<string, string>> = {
  mkdir: 'create the folder',
  open: 'open',
  read: 'read',
  scandir: 'list',
  write: 'write',
}

function diskMessage(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code = '', path, syscall = '' } = error as NodeJS.ErrnoException
  // `mkdir` on a read-only file system such as /proc fails with ENOENT.
  const known = diskProblems[code === 'ENOENT' && syscall === 'mkdir' ? 'EROFS' : code]
  // A failed write to an open file has no path. Other errors without a path are not about files.
  const what = path ?? (syscall === 'write' ? 'a file' : undefined)
  if (known === undefined || what === undefined) return undefined
  const [problem, remedy] = known
  return `Cannot ${verbs[syscall] ?? `use (${syscall})`} ${what}: ${problem} (${code}). ${remedy}, then try again.`
}
