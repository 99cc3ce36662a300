import type { CodeStatus } from '../../../execution/program/code-status.ts'
import { InfrastructureTimeout, type SandboxJob, type SandboxPool } from '../../../execution/sandbox/pool.ts'
import { SandboxUnavailable } from '../../../execution/sandbox/unavailable.ts'
import type { HumanevalReference, LivecodebenchReference } from '../reference.ts'
import type { Score } from '../scorer.ts'
import { checkCandidate } from './humaneval.ts'
import { passAllTests } from './livecodebench.ts'

/** Pass@1 of one final program: 1 or 0, with the status that says why. */
export interface ProgramScore extends Score {
  readonly status: CodeStatus
}

/**
 * Runs the final program against its tests. A machine that cannot run it gives a status of its own, never
 * `failed_tests`. Throws the signal's reason, and `BrokenTask` where the reference itself does not run.
 */
export async function scoreProgram(
  pool: SandboxPool,
  answer: unknown,
  reference: HumanevalReference | LivecodebenchReference,
  signal?: AbortSignal,
): Promise<ProgramScore> {
  // The contract asks for the program's text; nothing is repaired here.
  if (typeof answer !== 'string' || answer.trim() === '') return scored('unparseable')
  try {
    return scored(await pool.job(signal, (job) => evaluate(job, answer, reference)))
  } catch (problem) {
    if (problem instanceof SandboxUnavailable) return scored('sandbox_unavailable')
    if (problem instanceof InfrastructureTimeout) return scored('infrastructure_timeout')
    throw problem
  }
}

function evaluate(
  job: SandboxJob,
  program: string,
  reference: HumanevalReference | LivecodebenchReference,
): Promise<CodeStatus> {
  switch (reference.kind) {
    case 'humaneval':
      return checkCandidate(job, program, reference)
    case 'livecodebench':
      return passAllTests(job, program, reference)
  }
}

function scored(status: CodeStatus): ProgramScore {
  return { score: status === 'passed' ? 1 : 0, parse: status === 'unparseable' ? 'invalid' : 'ok', status }
}
