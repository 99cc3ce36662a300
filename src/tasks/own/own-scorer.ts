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

/** For a user's own scorer: the hidden part of the question as given. */
interface GivenReference {
  readonly kind: 'given'
  /** `null` if the question only has tests. */
  readonly answer: JsonValue
  readonly question: string
  readonly metadata: Readonly<Record<string, string>>
  readonly tests?: readonly ProgramTest[]
  readonly test?: string
}

/** Scores a user's questions like benchmarks. Solutions are looked up by reference object, not by content. */
export function ownScorer(solutions: ReadonlyMap<OwnReference, Solution>): TaskScorer<OwnReference> {
  const benchmarks: TaskScorer<OwnReference> = referenceScorer()
  return {
    ...benchmarks,
    version: `own-1, ${benchmarks.version}`,
    solution: (reference) => solutions.get(reference),
  }
}

/**
 * A user's scoring function: returns a number from 0 to 1, a Boolean or a `Score`. `means` has the sandbox, if there
 * is one.
 */
export type ScoreFunction = (
  answer: JsonValue,
  reference: GivenReference,
  means: ScoringMeans,
) => ScoreResult | Promise<ScoreResult>

type ScoreResult = number | boolean | Score

/** A function, or a function with a version maintained by its author. */
export type GivenScorer = ScoreFunction | { readonly score: ScoreFunction; readonly version: string }

/**
 * Wraps a user's scorer and checks its results. It only gets answers that fit the contract; others are invalid. Its
 * version is the given one, else a digest of its source text, which does not cover the functions it calls.
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
        const problem = `The scorer returned a promise that never settles, for the question '${given.question.slice(0, 80)}'.`
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
