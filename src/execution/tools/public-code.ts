import { z } from 'zod'
import type { ProgramTest } from '../../library/task.ts'
import { parsePythonJson } from '../../python/json.ts'
import { paperLimits } from '../../sandbox/limits.ts'
import { functionInterface } from '../../sandbox/program/function-interface.ts'
import { plainText } from '../../sandbox/program/plain-text.ts'
import { checkSyntax, runTests, type TestResult } from '../../sandbox/program/run-tests.ts'
import { type Tool, toolError } from './tool.ts'

const ownTest = z.object({ input: z.string(), output: z.string() })
const payload = z.object({
  source: z.string().min(1).max(200_000),
  tests: z.array(ownTest).max(20).default([]),
})
const longestText = 1000

export const publicCode: Tool<z.infer<typeof payload>> = {
  name: 'public_code',
  description:
    'public_code checks that a program compiles and runs it on the task\'s public tests: {"source": "..."}. Tests of ' +
    'your own can be added: {"source": "...", "tests": [{"input": "1 2\\n", "output": "3\\n"}]}; for a function, input ' +
    'has one JSON value per argument and line, output one JSON value.',
  payload,
  async run({ source, tests: added }, { sandbox, program, publicTests = [] }, signal) {
    if (program === undefined) return toolError('failed', 'The answer to this task is not a program.')
    if (sandbox === undefined) return toolError('unavailable', 'There is no sandbox to run programs in.')
    const testtype = program.mode === 'function' ? 'functional' : 'stdin'
    const own = added.map((test) => ({ ...test, testtype }) as const)
    const wrong = program.mode === 'function' ? own.findIndex((test) => !isFunctional(test)) : -1
    if (wrong >= 0) return toolError('bad_payload', `tests[${wrong}]: input and output must be JSON.`)

    return sandbox.pool.job(signal, async (job) => {
      const opened = await job.open()
      const { status, report } = await checkSyntax(opened, source, paperLimits)
      if (status !== 'passed')
        return { status: 'ok', result: { compiles: false, status, error: cut(report.stderr) } }
      const tests = [...publicTests, ...own]
      const shown: object[] = []
      const run = { program: source, tests, asFunction: functionInterface(program), limits: paperLimits }
      for await (const result of runTests(opened, run)) {
        const origin = shown.length < publicTests.length ? 'public' : 'own'
        shown.push({ origin, ...show(tests[shown.length]!, result) })
      }
      const passed = shown.filter((test) => 'status' in test && test.status === 'passed').length
      const note = tests.length > 0 ? {} : { note: 'This task has no public tests.' }
      return {
        status: 'ok',
        result: { compiles: true, passed, total: tests.length, tests: shown, ...note },
      }
    })
  },
}

function isFunctional({ input, output }: ProgramTest): boolean {
  return [...input.split('\n').filter((line) => line.trim() !== ''), output].every(
    (text) => parsePythonJson(text) !== undefined,
  )
}

/** Public tests are no secret, so a failed one is shown in full. The rest is the program's own output. */
function show(test: ProgramTest, { status, report, value }: TestResult): object {
  if (status === 'passed') return { status }
  return {
    status,
    input: cut(test.input),
    expected: cut(test.output),
    actual: cut(value === undefined ? report.stdout : plainText(value)),
    ...(report.stderr === '' ? {} : { error: cut(report.stderr) }),
  }
}

function cut(text: string): string {
  const points = [...text]
  return points.length > longestText ? `${points.slice(0, longestText).join('')} … [cut]` : text
}
