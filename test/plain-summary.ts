import type { Reporter, TestModule } from 'vitest/node'

/** Ends the run with `N passed, M failed`, a line that any CI can read. */
export default class PlainSummary implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    let passed = 0
    let skipped = 0
    // A module that does not load, and an error outside every test, count as failures: they have no test to fail.
    let failed = errors.length
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      if (module.state() === 'failed' && !tests.some((test) => test.result().state === 'failed')) failed += 1
      for (const test of tests) {
        const { state } = test.result()
        if (state === 'passed') passed += 1
        else if (state === 'failed') failed += 1
        else skipped += 1
      }
    }
    process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
  }
}
