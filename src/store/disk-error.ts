import { exitCode, Problem } from '../problem.ts'

/** A file of a run could not be written. Its previous content is intact, and the run can be resumed. */
export class DiskError extends Problem {
  constructor(path: string, bytes: number, cause: NodeJS.ErrnoException) {
    const code = cause.code || cause.message
    const need = bytes === 0 ? '' : `; ${bytes} bytes to write`
    super(
      `${path} could not be written (${code}${need}). ${remedyOf(code)}; what was there before is intact.`,
      { cause, exitCode: exitCode.disk },
    )
  }
}

/** What to do after a failed write. */
export function remedyOf(code: string | undefined): string {
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'Free some disk space and resume'
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return "Check the folder's owner and permissions and resume"
  if (code === 'ENOENT') return 'Create its folder and repeat the command'
  return 'Check the disk and resume'
}
