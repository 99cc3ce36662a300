import type { CodeStatus } from '../../execution/program/code-status.ts'
import { InfrastructureTimeout, type SandboxJob, type SandboxPool } from '../../execution/sandbox/pool.ts'
import { SandboxUnavailable } from '../../execution/sandbox/unavailable.ts'

/** The evaluation of one final program. `passed` is the score: 1 or 0, nothing between. */
export interface CodeVerdict {
  readonly status: CodeStatus
  readonly passed: boolean
}

/** Whether there is a program at all. The contract asks for its text, so nothing is repaired here. */
export function isProgram(answer: unknown): answer is string {
  return typeof answer === 'string' && answer.trim() !== ''
}

/** Runs an evaluation in the pool. A machine that cannot run it gives a status of its own, never `failed_tests`. */
export async function verdictOf(
  pool: SandboxPool,
  answer: unknown,
  signal: AbortSignal | undefined,
  evaluate: (job: SandboxJob, program: string) => Promise<CodeStatus>,
): Promise<CodeVerdict> {
  if (!isProgram(answer)) return verdict('unparseable')
  try {
    return verdict(await pool.job(signal, (job) => evaluate(job, answer)))
  } catch (problem) {
    if (problem instanceof SandboxUnavailable) return verdict('sandbox_unavailable')
    if (problem instanceof InfrastructureTimeout) return verdict('infrastructure_timeout')
    throw problem
  }
}

function verdict(status: CodeStatus): CodeVerdict {
  return { status, passed: status === 'passed' }
}
