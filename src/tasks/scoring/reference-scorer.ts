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

/** References that are compared with the answer directly. */
export type AnswerReference = Exclude<Reference, ProgramReference>

type Scorers = {
  readonly [Kind in AnswerReference['kind']]: {
    readonly score: (answer: unknown, reference: Extract<Reference, { kind: Kind }>) => Score
    readonly solution: (reference: Extract<Reference, { kind: Kind }>) => JsonValue
  }
}

const scorers: Scorers = {
  choice: { score: scoreChoice, solution: ({ label }) => label },
  boolean: { score: scoreBoolean, solution: ({ value }) => String(value) },
  // The contract forbids commas; the scorer would accept them.
  'number-text': { score: scoreNumberText, solution: ({ text }) => text.replaceAll(',', '') },
  number: { score: scoreNumber, solution: ({ number }) => number },
  text: { score: scoreText, solution: ({ accepted }) => accepted[0]! },
  tatqa: { score: scoreTatqa, solution: ({ answers: values, scale }) => ({ values, scale }) },
}

export function scoreAnswer(answer: unknown, reference: AnswerReference): Score {
  return scorers[reference.kind].score(answer, reference as never)
}

function solutionOf(reference: Reference): Solution | undefined {
  if (!isProgram(reference)) return { answer: scorers[reference.kind].solution(reference as never) }
  const { program: answer, wrong } = reference.solution ?? {}
  return answer === undefined ? undefined : { answer, wrong }
}

const keptVerdicts = 10_000

/** Judges each program once. A verdict that a busy machine may have caused is not stored. */
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
