import type { Score } from '../../../library/score.ts'
import { paperLimits } from '../../../sandbox/limits.ts'
import type { SandboxJob, SandboxPool } from '../../../sandbox/pool.ts'
import type { CodeStatus } from '../../../sandbox/program/code-status.ts'
import { solutionInterface } from '../../../sandbox/program/function-interface.ts'
import { runTests } from '../../../sandbox/program/run-tests.ts'
import { decodeTests } from '../../sources/program-tests.ts'
import type { LivecodebenchReference, ProgramReference } from '../reference.ts'
import { checkCandidate } from './humaneval.ts'

/** Pass@1 of one final program: 1 or 0, with a status that says why. */
export interface ProgramScore extends Score {
  readonly status: CodeStatus
}

/**
 * Runs the final program against its tests. Throws `SandboxFailure` if this machine cannot run it, which says nothing
 * about the program; the signal's reason; and `BrokenTask` if the reference itself does not run.
 */
export async function scoreProgram(
  pool: SandboxPool,
  answer: unknown,
  reference: ProgramReference,
  signal?: AbortSignal,
): Promise<ProgramScore> {
  // The contract requires the program's text; nothing is repaired here.
  if (typeof answer !== 'string' || answer.trim() === '')
    return { score: 0, parse: 'invalid', status: 'unparseable' }
  const status = await pool.job(signal, (job) =>
    reference.kind === 'humaneval'
      ? checkCandidate(job, answer, reference)
      : passAllTests(job, answer, reference),
  )
  return { score: status === 'passed' ? 1 : 0, parse: status === 'unparseable' ? 'invalid' : 'ok', status }
}

/** Public tests first, then private ones; all must pass. */
async function passAllTests(
  job: SandboxJob,
  program: string,
  { publicTests, privateTests, program: shape }: LivecodebenchReference,
): Promise<CodeStatus> {
  const sandbox = await job.open()
  const tests = [...publicTests, ...decodeTests(privateTests)]
  const asFunction = shape.mode === 'function' ? solutionInterface(shape.entryPoint) : undefined
  for await (const { status } of runTests(sandbox, { program, tests, asFunction, limits: paperLimits })) {
    if (status !== 'passed') return status
  }
  return 'passed'
}
