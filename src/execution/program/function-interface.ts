import type { ProgramInterface } from '../../library/task.ts'

/** How a functional test finds the function: by its name, after code that the task provides. */
export interface FunctionInterface {
  readonly entry: string
  /** Runs before the program, in its namespace. */
  readonly preamble: string
  /** The definition in the preamble that only holds the place of the program's. */
  readonly placeholder?: string
  /** Whether a method of a class `Solution` is meant where there is one. */
  readonly method: boolean
}

// The starter code of real problems uses `List` without importing it.
const typing = 'from typing import *\n'
const solutionClass = /^class\s+Solution\b/m

/** Undefined for programs that read standard input. */
export function functionInterface(program: ProgramInterface): FunctionInterface | undefined {
  if (program.mode === 'stdin') return undefined
  const { starterCode, entryPoint: entry } = program
  // A starter class is a bare signature; other starter code may bring imports, constants and helpers along.
  if (starterCode.trim() === '' || solutionClass.test(starterCode))
    return { entry, preamble: typing, method: true }
  return { entry, preamble: starterCode, placeholder: entry, method: true }
}
