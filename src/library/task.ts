/**
 * The public part of a task: everything that policy, executors, tools and prompts may see. Gold answer and hidden
 * tests are a `Reference` (tasks/scoring/reference.ts), a different type, and have no field here.
 */
export interface Task {
  readonly id: string
  readonly question: string
  readonly options?: readonly Option[]
  /** Passages that belong to the question, in reading order. */
  readonly context?: readonly string[]
  readonly tables?: readonly Table[]
  /** If the answer is a program: how it is called. */
  readonly program?: ProgramInterface
  readonly publicTests?: readonly ProgramTest[]
  readonly metadata: Readonly<Record<string, string>>
}

export interface Option {
  readonly label: string
  readonly text: string
}

/** A table as data. Cells are text, as the source gives them; rows may differ in length. */
export interface Table {
  readonly name: string
  readonly caption?: string
  readonly header?: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A program reads standard input, or defines `entryPoint` as a function (or as a method of a class `Solution`). */
export type ProgramInterface =
  | { readonly mode: 'stdin'; readonly starterCode: string }
  | { readonly mode: 'function'; readonly starterCode: string; readonly entryPoint: string }

/** In a functional test, `input` has one JSON value per line, one line per argument, and `output` is one JSON value. */
export interface ProgramTest {
  readonly testtype: 'stdin' | 'functional'
  readonly input: string
  readonly output: string
}
