import { runTests } from '../../execution/program/run-tests.ts'
import type { FunctionInterface, ProgramTest } from '../../execution/program/run-test.ts'
import { paperLimits } from '../../execution/sandbox/limits.ts'
import type { SandboxPool } from '../../execution/sandbox/pool.ts'
import { HiddenTests, type LiveCodeBenchTests } from './hidden-tests.ts'
import { type CodeVerdict, verdictOf } from './verdict.ts'

export interface LiveCodeBenchProblem {
  readonly publicTests: readonly ProgramTest[]
  /** The name of the function, for functional tests. */
  readonly functionName?: string
}

// The starter code of real problems uses `List` without importing it.
const functionPreamble = 'from typing import *\n'

/** How a functional test of LiveCodeBench calls a program. */
export function liveCodeBenchFunction(name: string): FunctionInterface {
  return { entry: name, preamble: functionPreamble, method: true }
}

/** Public tests first, then hidden ones; all must pass. */
export function evaluateLiveCodeBench(
  pool: SandboxPool,
  problem: LiveCodeBenchProblem,
  hidden: LiveCodeBenchTests,
  answer: unknown,
  signal?: AbortSignal,
): Promise<CodeVerdict> {
  const { functionName } = problem
  return verdictOf(pool, answer, signal, async (job, program) => {
    const sandbox = await job.open()
    const tests = [...problem.publicTests, ...HiddenTests.open(hidden).tests]
    const asFunction = functionName === undefined ? undefined : liveCodeBenchFunction(functionName)
    for await (const { status } of runTests(sandbox, { program, tests, asFunction, limits: paperLimits })) {
      if (status !== 'passed') return status
    }
    return 'passed'
  })
}
