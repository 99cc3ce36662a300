import type { ProgramInterface } from '../../library/task.ts'

/** How a functional test finds the function: by name, after code provided by the task. */
export interface FunctionInterface {
  readonly entry: string
  /** Pieces of code that run before the program, in its namespace. */
  readonly preamble: readonly string[]
  /** The placeholder definition in the preamble that the program replaces. */
  readonly placeholder?: string
  /** Whether to use a method of a class `Solution`, if there is one. */
  readonly method: boolean
}

// The starter code of real problems uses `List` without importing it.
const typing = 'from typing import *'
const solutionClass = /^class\s+Solution\b/m

/** As in LiveCodeBench: a method of `Solution`, or a plain function. Its starter code is a bare signature. */
export function solutionInterface(entry: string): FunctionInterface {
  return { entry, preamble: [typing], method: true }
}

/** The function interface of a task. Undefined for programs that read standard input. */
export function functionInterface(program: ProgramInterface): FunctionInterface | undefined {
  if (program.mode === 'stdin') return undefined
  const { starterCode, entryPoint: entry } = program
  const bare = solutionInterface(entry)
  if (starterCode.trim() === '' || solutionClass.test(starterCode)) return bare
  // Other starter code may contain imports, constants and helpers, like HumanEval's prompts.
  return { ...bare, preamble: [typing, starterCode], placeholder: entry }
}
