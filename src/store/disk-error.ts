import { exitCode, Problem } from '../problem.ts'

/** A file of a run could not be written. Its previous content is intact, and the run can be resumed. */
export class DiskError extends Problem {
  constructor(path: string, bytes: number, cause: NodeJS.ErrnoException) {
    const code = cause.code || cause.message
    const need = bytes === 0 ? '' : `; ${bytes} bytes to write`
    super(
      `${path} could not be written (${code}${need}). ${remedyOf(code)} and resume; what was there before is intact.`,
      { cause, exitCode: exitCode.disk },
    )
  }
}

function remedyOf(code: string): string {
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'Free some disk space'
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return "Check the folder's owner and permissions"
  return 'Check the disk'
}
