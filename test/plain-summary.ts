import type { Reporter, SerializedError, TestModule } from 'vitest/node'

type Failure = readonly [name: string, errors: readonly Pick<SerializedError, 'message'>[]]

/**
 * Ends the run with a short list of failures, so that the tail of a log names them, and a line any CI can
 * read.
 */
export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (wanted: string) => tests.filter((test) => test.result().state === wanted).length
    // A file that does not load and an error outside any test count as failures although no test failed.
    const failures = [
      ...modules.flatMap(failuresOf),
      ...unhandled.map((error): Failure => ['outside of any test', [error]]),
    ]
    const [passed, skipped] = [count('passed'), tests.length - count('passed') - count('failed')]
    const lines = [
      ...failures.map(([name, errors]) => `FAILED ${name}\n${errors.map(inShort).join('\n')}`),
      `\n${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    ]
    process.stdout.write(`\n${lines.join('\n')}\n`)
  }
}

/** The failed tests, and the file or its suites if loading or a hook failed. */
function failuresOf(module: TestModule): Failure[] {
  const file = module.relativeModuleId
  const failures: Failure[] = []
  if (module.errors().length > 0) failures.push([file, module.errors()])
  for (const suite of module.children.allSuites())
    if (suite.errors().length > 0) failures.push([`${file} > ${suite.fullName}`, suite.errors()])
  for (const test of module.children.allTests('failed'))
    failures.push([`${file} > ${test.fullName}`, test.result().errors ?? []])
  return failures.length === 0 && module.state() === 'failed' ? [[file, []]] : failures
}

function inShort({ message }: Pick<SerializedError, 'message'>): string {
  const lines = message.split('\n').slice(0, 8)
  return lines.map((line) => `    ${line.slice(0, 300)}`).join('\n')
}
