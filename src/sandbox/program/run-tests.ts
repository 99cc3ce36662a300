import type { ProgramTest } from '../../library/task.ts'
import type { Limits } from '../limits.ts'
import type { Sandbox } from '../sandbox.ts'
import type { FunctionInterface } from './function-interface.ts'
import { runTest, type TestResult } from './run-test.ts'

export interface TestRun {
  readonly program: string
  readonly tests: readonly ProgramTest[]
  readonly asFunction: FunctionInterface | undefined
  readonly limits: Limits
}

/**
 * Runs tests one after the other, each in a process of its own. The limits of time hold for each test and again for
 * their sum, so a later test gets what the earlier ones left; the run ends with the test that meets the limit.
 */
export async function* runTests(sandbox: Sandbox, run: TestRun): AsyncGenerator<TestResult> {
  let { cpuSeconds, wallSeconds } = run.limits
  for (const test of run.tests) {
    const limits = { ...run.limits, cpuSeconds, wallSeconds }
    const result = await runTest(sandbox, run.program, test, run.asFunction, limits)
    yield result
    if (result.status === 'timeout') return
    cpuSeconds -= result.report.cpuSeconds
    wallSeconds -= result.report.wallSeconds
  }
}
