import { exitCode, Problem } from '../problem.ts'

/** A file of a run that could not be written. What was there before is as it was, and the run can be resumed. */
export class DiskError extends Problem {
  constructor(path: string, bytes: number, cause: NodeJS.ErrnoException) {
    const code = cause.code || cause.message
    const need = bytes === 0 ? '' : `; ${bytes} bytes were to go there`
    super(
      `${path} could not be written (${code}${need}). ${remedyOf(code)} and resume; what was there before is intact.`,
      { cause, exitCode: exitCode.disk },
    )
  }
}

function remedyOf(code: string): string {
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'Make room on the disk'
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return "Check the folder's owner and permissions"
  return 'Check the disk'
}
