import { hash } from 'node:crypto'
import { MemoryShelf, Once } from '../../execution/once.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { Score } from '../../library/score.ts'
import { type ScoringMeans, type Solution, type TaskScorer, TaskSetError } from '../task-set.ts'
import { type ProgramScore, scoreProgram } from './code/score-program.ts'
import { scoreBoolean, scoreChoice, scoreNumberText, scoreText } from './exact-match.ts'
import { scoreNumber } from './number.ts'
import type { ProgramReference, Reference } from './reference.ts'
import { scoreTatqa } from './tatqa.ts'

/** Scores every kind of reference. Programs run in the sandbox. */
export function referenceScorer(): TaskScorer<Reference> {
  const verdicts = new Once(new MemoryShelf<ProgramScore>(keptVerdicts))
  return {
    version: 'references-1',
    score: (answer, reference, means) =>
      isProgram(reference) ? judge(verdicts, answer, reference, means) : scoreAnswer(answer, reference),
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
    case 'number':
      return scoreNumber(answer, reference)
    case 'text':
      return scoreText(answer, reference)
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
    case 'number':
      return { answer: reference.number }
    case 'text':
      return { answer: reference.accepted[0]! }
    case 'tatqa':
      return { answer: { values: reference.answers, scale: reference.scale } }
    case 'humaneval':
    case 'livecodebench': {
      if (reference.solution === undefined) return undefined
      const { program: answer, wrong } = reference.solution
      return { answer, wrong }
    }
  }
}

const keptVerdicts = 10_000

/** Judges each program once. A verdict that a busy machine may have caused is not kept. */
function judge(
  verdicts: Once<ProgramScore>,
  answer: JsonValue,
  reference: ProgramReference,
  { pool, signal }: ScoringMeans,
): Promise<ProgramScore> {
  if (pool === undefined)
    throw new TaskSetError(
      'Programs cannot be scored here: there is no sandbox. Install bubblewrap and python3; `magic doctor` checks them.',
    )
  const score = async (until: AbortSignal) => {
    const value = await scoreProgram(pool, answer, reference, until)
    return { value, keep: dependable.has(value.status) }
  }
  const key = hash('sha256', JSON.stringify([answer, reference]))
  return verdicts.once(key, score, signal).then((found) => found.value)
}

const dependable = new Set<ProgramScore['status']>([
  'passed',
  'failed_tests',
  'runtime_error',
  'syntax_error',
  'unparseable',
])
