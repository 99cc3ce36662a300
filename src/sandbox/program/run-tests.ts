// Runs one program on its tests, each in its own process.
import type { ProgramTest } from '../../library/task.ts'
import { equalsExpected } from '../../python/equality.ts'
import { parsePythonJson } from '../../python/json.ts'
import { decodePlain, type PlainValue } from '../../python/plain-value.ts'
import { pythonStrip } from '../../python/text.ts'
import type { CaseReport, CaseWork } from '../case.ts'
import type { Limits } from '../limits.ts'
import type { Sandbox } from '../sandbox.ts'
import { type CodeStatus, statusOfEnd } from './code-status.ts'
import type { FunctionInterface } from './function-interface.ts'
import { equalOutputs } from './output-equality.ts'
import { BrokenTask, type ProgramMessage, readMessage, statusOfFailure } from './program-message.ts'

export interface TestResult {
  readonly status: CodeStatus
  readonly report: CaseReport
  /** What the program returned, in function mode. */
  readonly value?: PlainValue
}

interface TestRun {
  readonly program: string
  readonly tests: readonly ProgramTest[]
  readonly asFunction: FunctionInterface | undefined
  readonly limits: Limits
}

/**
 * Runs tests one after another. The time limits apply to each test and to their sum, so a later test gets what
 * earlier ones left; the run ends with the test that hits the limit.
 */
export async function* runTests(sandbox: Sandbox, run: TestRun): AsyncGenerator<TestResult> {
  let { cpuSeconds, wallSeconds } = run.limits
  for (const test of run.tests) {
    const limits = { ...run.limits, cpuSeconds, wallSeconds }
    const result = await runTest(sandbox, run.program, test, run.asFunction, limits)
    cpuSeconds -= result.report.cpuSeconds
    wallSeconds -= result.report.wallSeconds
    if (result.report.end === 'wall')
      sandbox.noteWait(run.limits.cpuSeconds - cpuSeconds, run.limits.wallSeconds)
    yield result
    if (result.status === 'timeout') return
  }
}

async function runTest(
  sandbox: Sandbox,
  source: string,
  test: ProgramTest,
  asFunction: FunctionInterface | undefined,
  limits: Limits,
): Promise<TestResult> {
  if (test.testtype === 'stdin') {
    const ran = await runCase(sandbox, { mode: 'script', source, stdin: test.input }, limits)
    const status = ran.status ?? (equalOutputs(ran.report.stdout, test.output) ? 'passed' : 'failed_tests')
    return { status, report: ran.report }
  }
  if (asFunction === undefined)
    throw new BrokenTask('A functional test needs the name of a function (metadata.func_name).')
  const expected = parsePythonJson(test.output)
  if (expected === undefined)
    throw new BrokenTask(`The output of a functional test is not JSON: ${cut(test.output)}`)
  const work = { mode: 'function' as const, source, ...asFunction, arguments: argumentsOf(test.input) }
  const { status, report, message } = await runCase(sandbox, work, limits)
  if (status !== undefined) return { status, report }
  const value = message !== undefined && 'value' in message ? decodePlain(message.value) : undefined
  // Ended without a result, so before the test was done.
  if (value === undefined) return { status: 'runtime_error', report }
  return { status: equalsExpected(value, expected) ? 'passed' : 'failed_tests', report, value }
}

/** Whether the program compiles; it is not run. */
export async function checkSyntax(sandbox: Sandbox, source: string, limits: Limits): Promise<TestResult> {
  const { status, report, message } = await runCase(sandbox, { mode: 'compile', source }, limits)
  if (status !== undefined) return { status, report }
  return { status: message !== undefined && 'compiled' in message ? 'passed' : 'runtime_error', report }
}

interface Ran {
  /** Undefined if the program ended normally; its output is still to be judged. */
  readonly status: CodeStatus | undefined
  readonly report: CaseReport
  readonly message: ProgramMessage | undefined
}

export async function runCase(sandbox: Sandbox, work: CaseWork, limits: Limits): Promise<Ran> {
  const running = sandbox.run(work, limits)
  const said = await running.message()
  const report = await running.ended
  const message = readMessage(said)
  const understood = said === undefined || message !== undefined
  let status = statusOfEnd(report)
  if (message !== undefined && 'failed' in message) status ??= statusOfFailure(message)
  if (report.code !== 0 || !understood) status ??= 'runtime_error'
  return { status, report, message }
}

function argumentsOf(input: string): string[] {
  const lines = input.split('\n').filter((line) => pythonStrip(line) !== '')
  for (const line of lines) {
    if (parsePythonJson(line) === undefined)
      throw new BrokenTask(`An argument of a test is not JSON: ${cut(line)}`)
  }
  return lines
}

function cut(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
