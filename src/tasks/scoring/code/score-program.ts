import type { Score } from '../../../library/score.ts'
import type { SandboxJob, SandboxPool } from '../../../sandbox/pool.ts'
import type { CodeStatus } from '../../../sandbox/program/code-status.ts'
import type { HumanevalReference, LivecodebenchReference } from '../reference.ts'
import { checkCandidate } from './humaneval.ts'
import { passAllTests } from './livecodebench.ts'

/** Pass@1 of one final program: 1 or 0, with the status that says why. */
export interface ProgramScore extends Score {
  readonly status: CodeStatus
}

/**
 * Runs the final program against its tests. Throws a `SandboxFailure` where this machine cannot run it, which says
 * nothing about the program; the signal's reason; and `BrokenTask` where the reference itself does not run.
 */
export async function scoreProgram(
  pool: SandboxPool,
  answer: unknown,
  reference: HumanevalReference | LivecodebenchReference,
  signal?: AbortSignal,
): Promise<ProgramScore> {
  // The contract asks for the program's text; nothing is repaired here.
  if (typeof answer !== 'string' || answer.trim() === '') return scored('unparseable')
  return scored(await pool.job(signal, (job) => evaluate(job, answer, reference)))
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
