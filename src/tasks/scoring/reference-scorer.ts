import { hash } from 'node:crypto'
import type { JsonValue } from '../../library/json-value.ts'
import type { Score } from '../../library/score.ts'
import { type ScoringMeans, type Solution, type TaskScorer, TaskSetError } from '../task-set.ts'
import { type ProgramScore, scoreProgram } from './code/score-program.ts'
import { scoreBoolean, scoreChoice, scoreNumberText } from './exact-match.ts'
import type { ProgramReference, Reference } from './reference.ts'
import { scoreTatqa } from './tatqa.ts'

/** Scores every kind of reference. Programs run in the sandbox. */
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

/** References that are compared with the answer itself. */
export type AnswerReference = Exclude<Reference, ProgramReference>

export function scoreAnswer(answer: unknown, reference: AnswerReference): Score {
  switch (reference.kind) {
    case 'choice':
      return scoreChoice(answer, reference)
    case 'boolean':
      return scoreBoolean(answer, reference)
    case 'number-text':
      return scoreNumberText(answer, reference)
    case 'tatqa':
      return scoreTatqa(answer, reference)
  }
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
    case 'livecodebench': {
      if (reference.solution === undefined) return undefined
      const { program: answer, ...wrong } = reference.solution
      return { answer, ...wrong }
    }
  }
}

const keptVerdicts = 10_000

/** Remembers verdicts, so that the same program is not run twice. Those that a busy machine may have caused are dropped. */
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
    if (this.#known.size >= keptVerdicts) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(key, judged)
    const forget = () => this.#known.get(key) === judged && this.#known.delete(key)
    judged.then(({ status }) => !dependable.has(status) && forget(), forget)
    return judged
  }
}

const dependable = new Set<ProgramScore['status']>([
  'passed',
  'failed_tests',
  'runtime_error',
  'syntax_error',
  'unparseable',
])
