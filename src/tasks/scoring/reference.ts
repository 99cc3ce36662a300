import type { ProgramInterface, ProgramTest } from '../../library/task.ts'

/** What an answer is scored against. Only scorers see it, never policy, executor, tool or prompt. */
export type Reference =
  | ChoiceReference
  | BooleanReference
  | NumberTextReference
  | NumberReference
  | TextReference
  | TatqaReference
  | ProgramReference

/** The label of the right option, in upper case. */
export interface ChoiceReference {
  readonly kind: 'choice'
  readonly label: string
}

export interface BooleanReference {
  readonly kind: 'boolean'
  readonly value: boolean
}

/** A number compared as text. */
export interface NumberTextReference {
  readonly kind: 'number-text'
  readonly text: string
}

/** A number compared by value; read by `readNumber` (number.ts). */
export interface NumberReference {
  readonly kind: 'number'
  readonly number: string
  /** How far an answer may be off, as a share of the number; 0 means exact. */
  readonly tolerance: number
}

export interface TextReference {
  readonly kind: 'text'
  /** Any of these is right. */
  readonly accepted: readonly string[]
}

export type TatqaAnswerType = 'span' | 'multi-span' | 'arithmetic' | 'count'

/** The answers as texts, with numbers in Python's notation, because the official scorer works on those. */
export interface TatqaReference {
  readonly kind: 'tatqa'
  readonly answerType: TatqaAnswerType
  readonly answers: readonly string[]
  readonly scale: string
}

export type ProgramReference = HumanevalReference | LivecodebenchReference

/** `test` defines `check(candidate)`; the prompt may contain helpers that the tests call. */
export interface HumanevalReference {
  readonly kind: 'humaneval'
  readonly prompt: string
  readonly entryPoint: string
  readonly test: string
  readonly solution?: ProgramSolution
}

/** Private tests stay encoded until needed: real ones take many megabytes each. */
export interface LivecodebenchReference {
  readonly kind: 'livecodebench'
  readonly program: ProgramInterface
  readonly publicTests: readonly ProgramTest[]
  /** The raw field; `decodeTests` (sources/program-tests.ts) reads it. */
  readonly privateTests: string
  readonly solution?: ProgramSolution
}

/** A program that passes, and some that fail: for self-checks and the simulated model, never for a sandbox. */
export interface ProgramSolution {
  readonly program: string
  /** The most tempting first. */
  readonly wrong?: readonly string[]
}
