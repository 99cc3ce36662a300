import type { JsonValue } from '../../../library/json-value.ts'
import type { Draw } from '../draw.ts'

/** A programming problem: what is asked for, inputs to try it on, and programs for it. */
export interface CodeProblem {
  readonly entryPoint: string
  /** As in a Python signature: `values: list[int]`. */
  readonly parameters: readonly string[]
  readonly returns: string
  /** What the function shall do, in sentences that follow its name: `that returns …`. */
  readonly statement: string
  readonly right: Program
  /** Each makes a slip that people make. */
  readonly wrong: readonly Program[]
  /** One list of arguments. */
  input(draw: Draw): readonly JsonValue[]
}

/** A function body in Python, with its twin here that says what it returns without being run. */
export interface Program {
  /** Lines of Python without the outer indentation. */
  readonly body: string
  readonly run: (...input: never[]) => JsonValue
}

export type ProblemTemplate = (draw: Draw) => CodeProblem

export function program<A extends readonly JsonValue[]>(
  body: string,
  run: (...input: A) => JsonValue,
): Program {
  return { body: body.trim(), run: run as unknown as Program['run'] }
}
