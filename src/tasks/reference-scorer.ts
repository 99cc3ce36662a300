import { hash } from 'node:crypto'
import type { JsonValue } from '../library/json-value.ts'
import type {
  HumanevalReference,
  LivecodebenchReference,
  ProgramSolution,
  Reference,
} from './benchmarks/reference.ts'
import { type ProgramScore, scoreProgram } from './scoring/code/score-program.ts'
import { scoreAnswer } from './scoring/score-answer.ts'
import { type ScoringMeans, type Solution, type TaskScorer, TaskSetError } from './task-set.ts'

type ProgramReference = HumanevalReference | LivecodebenchReference

/** The scorer of every reference that is one of ours, by its kind. Programs are run in the sandbox. */
export function referenceScorer(): TaskScorer<Reference> {
  const verdicts = new Verdicts()
  return {
    version: 'references-1',
    score: (answer, reference, means) =>
      isProgram(reference) ? verdicts.find(answer, reference, means) : scoreAnswer(answer, reference),
    solution: solutionOf,
    needsSandbox: isProgram,
  }
}

function isProgram(reference: Reference): reference is ProgramReference {
  return reference.kind === 'humaneval' || reference.kind === 'livecodebench'
}

function solutionOf(reference: Reference): Solution | undefined {
  switch (reference.kind) {
    case 'choice':
      return { answer: reference.label }
    case 'boolean':
      return { answer: String(reference.value) }
    case 'number-text':
      // The contract asks for no commas; the scorer would forgive them.
      return { answer: reference.text.replaceAll(',', '') }
    case 'tatqa':
      return { answer: { values: reference.answers, scale: reference.scale } }
    case 'humaneval':
    case 'livecodebench':
      return programSolution(reference.solution)
  }
}

function programSolution(solution: ProgramSolution | undefined): Solution | undefined {
  if (solution === undefined) return undefined
  const { program: answer, wrong } = solution
  return wrong === undefined ? { answer } : { answer, wrong }
}

const keptVerdicts = 10_000

/** A program that was judged is not run again. Verdicts that a busy machine may have caused are not kept. */
class Verdicts {
  readonly #known = new Map<string, Promise<ProgramScore>>()

  find(
    answer: JsonValue,
    reference: ProgramReference,
    { pool, signal }: ScoringMeans,
  ): Promise<ProgramScore> {
    if (pool === undefined)
      throw new TaskSetError(
        'Programs cannot be scored here: there is no sandbox. Install bubblewrap and python3; `magic doctor` checks them.',
      )
    const key = hash('sha256', JSON.stringify([answer, reference]))
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const judged = scoreProgram(pool, answer, reference, signal)
    this.#keep(key, judged)
    return judged
  }

  #keep(key: string, judged: Promise<ProgramScore>): void {
    if (this.#known.size >= keptVerdicts) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(key, judged)
    const forget = () => this.#known.get(key) === judged && this.#known.delete(key)
    judged.then(({ status }) => !dependable.has(status) && forget(), forget)
  }
}

const dependable = new Set<ProgramScore['status']>([
  'passed',
  'failed_tests',
  'runtime_error',
  'syntax_error',
  'unparseable',
])
