import type { ProgramInterface } from '../../library/task.ts'

/** How a functional test finds the function: by its name, after code that the task provides. */
export interface FunctionInterface {
  readonly entry: string
  /** Pieces of code that run before the program, in its namespace. */
  readonly preamble: readonly string[]
  /** The definition in the preamble that only holds the place of the program's. */
  readonly placeholder?: string
  /** Whether a method of a class `Solution` is meant where there is one. */
  readonly method: boolean
}

// The starter code of real problems uses `List` without importing it.
const typing = 'from typing import *'
const solutionClass = /^class\s+Solution\b/m

/** LiveCodeBench's way: a method of `Solution`, or a plain function. Its starter code is a bare signature. */
export function solutionInterface(entry: string): FunctionInterface {
  return { entry, preamble: [typing], method: true }
}

/** The interface that a task tells its solvers. Undefined for programs that read standard input. */
export function functionInterface(program: ProgramInterface): FunctionInterface | undefined {
  if (program.mode === 'stdin') return undefined
  const { starterCode, entryPoint: entry } = program
  const bare = solutionInterface(entry)
  if (starterCode.trim() === '' || solutionClass.test(starterCode)) return bare
  // Other starter code may bring imports, constants and helpers along, as HumanEval's prompts do.
  return { ...bare, preamble: [typing, starterCode], placeholder: entry }
}
