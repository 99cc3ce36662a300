import type { ProgramInterface, ProgramTest } from '../../library/task.ts'

/** What an answer is scored against. It goes to a scorer only: never to policy, executor, tool or prompt. */
export type Reference =
  | ChoiceReference
  | BooleanReference
  | NumberTextReference
  | TatqaReference
  | HumanevalReference
  | LivecodebenchReference

/** MMLU-Pro and AQuA-RAT: the label of the right option, in upper case. */
export interface ChoiceReference {
  readonly kind: 'choice'
  readonly label: string
}

/** StrategyQA and TabFact. */
export interface BooleanReference {
  readonly kind: 'boolean'
  readonly value: boolean
}

/** GSM8K: the trimmed text after the last `####`; compared as text, not as a number. */
export interface NumberTextReference {
  readonly kind: 'number-text'
  readonly text: string
}

export type TatqaAnswerType = 'span' | 'multi-span' | 'arithmetic' | 'count'

/** TAT-QA: the answers as texts, a number as Python writes it, because the official scorer works on those texts. */
export interface TatqaReference {
  readonly kind: 'tatqa'
  readonly answerType: TatqaAnswerType
  readonly answers: readonly string[]
  readonly scale: string
}

/** A program that passes, and ones that do not: for self-checks and the simulated model, never for a sandbox. */
export interface ProgramSolution {
  readonly program: string
  /** The most tempting first. */
  readonly wrong?: readonly string[]
}

/** HumanEval: `test` defines `check(candidate)`; the prompt may hold helpers that the tests call. */
export interface HumanevalReference {
  readonly kind: 'humaneval'
  readonly prompt: string
  readonly entryPoint: string
  readonly test: string
  readonly solution?: ProgramSolution
}

/** LiveCodeBench: private tests stay encoded until they are needed, since real ones take many megabytes each. */
export interface LivecodebenchReference {
  readonly kind: 'livecodebench'
  readonly program: ProgramInterface
  readonly publicTests: readonly ProgramTest[]
  /** The raw field; `decodeTests` (program-tests.ts) reads it. */
  readonly privateTests: string
  readonly solution?: ProgramSolution
}
