import { hash } from 'node:crypto'
import type { AnswerContract } from '../../library/answer-contract.ts'
import { awaitGiven } from '../../library/given-promise.ts'
import { canonicalJson, type JsonValue, jsonTypeOf } from '../../library/json-value.ts'
import { invalidAnswer, matched, type Score } from '../../library/score.ts'
import type { ProgramTest } from '../../library/task.ts'
import { Problem } from '../../problem.ts'
import type { Reference } from '../scoring/reference.ts'
import { referenceScorer } from '../scoring/reference-scorer.ts'
import { type ScoringMeans, type Solution, type TaskScorer, TaskSetError } from '../task-set.ts'

/** What a user's own question is scored against. */
export type OwnReference = Reference | GivenReference

/** For a user's own scorer: the hidden part of the question as it was given. */
interface GivenReference {
  readonly kind: 'given'
  /** `null` where the question has tests alone. */
  readonly answer: JsonValue
  readonly question: string
  readonly metadata: Readonly<Record<string, string>>
  readonly tests?: readonly ProgramTest[]
  readonly test?: string
}

/** Scores own questions as benchmarks are. Solutions belong to a reference object, not to its content. */
export function ownScorer(solutions: ReadonlyMap<OwnReference, Solution>): TaskScorer<OwnReference> {
  const benchmarks: TaskScorer<OwnReference> = referenceScorer()
  return {
    ...benchmarks,
    version: `own-1, ${benchmarks.version}`,
    solution: (reference) => solutions.get(reference),
  }
}

/** A user's way to score: from 0 to 1, or right and wrong, or a `Score`. `means` has the sandbox, where there is one. */
export type ScoreFunction = (
  answer: JsonValue,
  reference: GivenReference,
  means: ScoringMeans,
) => ScoreResult | Promise<ScoreResult>

type ScoreResult = number | boolean | Score

/** The function, or the function with a version that its author keeps. */
export type GivenScorer = ScoreFunction | { readonly score: ScoreFunction; readonly version: string }

/**
 * A user's scorer with its results checked. It is asked about answers that fit the contract; others are invalid without
 * it. Its version is the one given, else a digest of its source text, which does not see what the function calls.
 */
export function givenScorer(
  scorer: GivenScorer,
  contract: AnswerContract,
  solutions: ReadonlyMap<OwnReference, Solution>,
): TaskScorer<OwnReference> {
  const score = typeof scorer === 'function' ? scorer : scorer.score
  const version =
    typeof scorer === 'function' ? `source ${hash('sha256', String(scorer), 'hex')}` : scorer.version
  return {
    version: `given ${version}, contract ${hash('sha256', canonicalJson(contract.description), 'hex')}`,
    async score(answer, reference, means) {
      if (!fitsContract(answer, contract)) return invalidAnswer
      const given = reference as GivenReference
      try {
        const problem = `The scorer gave a promise that never settles, for the question '${given.question.slice(0, 80)}'.`
        return checkedScore(await awaitGiven(score(answer, given, means), problem))
      } catch (error) {
        if (error instanceof Problem || means.signal?.aborted) throw error
        throw new TaskSetError(
          `The scorer failed on the question '${given.question.slice(0, 80)}': ${(error as Error)?.message ?? error}. ` +
            'A wrong answer must score 0, not throw.',
          { cause: error },
        )
      }
    },
    solution: (reference) => solutions.get(reference),
  }
}

export function fitsContract(answer: JsonValue, { types, check }: AnswerContract): boolean {
  return answer !== null && types.includes(jsonTypeOf(answer)) && check(answer).verdict === 'fits'
}

function checkedScore(result: unknown): Score {
  if (typeof result === 'boolean') return matched(result)
  const given = typeof result === 'object' && result !== null ? result : { score: result }
  const { score, parse = 'ok', measures, judge } = given as Partial<Score>
  if (typeof score !== 'number' || !(score >= 0 && score <= 1)) {
    const said = typeof result === 'object' ? JSON.stringify(result)?.slice(0, 80) : result
    throw new TaskSetError(
      `The scorer gave ${said}; it must give a number from 0 to 1, true or false, or { score, parse }.`,
    )
  }
  if (parse !== 'ok' && parse !== 'invalid')
    throw new TaskSetError(`The scorer gave the parse '${parse}'; it is 'ok' or 'invalid'.`)
  return { score, parse, measures, judge }
}
