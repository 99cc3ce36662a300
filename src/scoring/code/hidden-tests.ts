import type { ProgramTest } from '../../execution/program/run-test.ts'

/**
 * Tests that only scoring may see. Their private field makes the type its own: no tool's context and no request can
 * take one, and none shows its contents when it is printed or turned into JSON.
 */
export class HiddenTests<Content> {
  readonly #content: Content

  constructor(content: Content) {
    this.#content = content
  }

  /** For the evaluator of this folder. */
  static open<Content>(hidden: HiddenTests<Content>): Content {
    return hidden.#content
  }
}

/** HumanEval: the test code, which defines `check`. */
export type HumanEvalTests = HiddenTests<{ readonly test: string }>

/** LiveCodeBench: the private test cases. */
export type LiveCodeBenchTests = HiddenTests<{ readonly tests: readonly ProgramTest[] }>
