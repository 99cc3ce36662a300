import { paperLimits } from '../../../sandbox/limits.ts'
import type { SandboxJob } from '../../../sandbox/pool.ts'
import type { CodeStatus } from '../../../sandbox/program/code-status.ts'
import { solutionInterface } from '../../../sandbox/program/function-interface.ts'
import { runTests } from '../../../sandbox/program/run-tests.ts'
import { decodeTests } from '../../sources/program-tests.ts'
import type { LivecodebenchReference } from '../reference.ts'

/** Public tests first, then private ones; all must pass. */
export async function passAllTests(
  job: SandboxJob,
  program: string,
  reference: LivecodebenchReference,
): Promise<CodeStatus> {
  const sandbox = await job.open()
  const tests = [...reference.publicTests, ...decodeTests(reference.privateTests)]
  const { program: shape } = reference
  const asFunction = shape.mode === 'function' ? solutionInterface(shape.entryPoint) : undefined
  for await (const { status } of runTests(sandbox, { program, tests, asFunction, limits: paperLimits })) {
    if (status !== 'passed') return status
  }
  return 'passed'
}
