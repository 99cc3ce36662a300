import { RE2JS } from 're2js'
import { z } from 'zod'
import { type AnswerContract, freeText } from '../../library/answer-contract.ts'
import type { JsonObject, JsonValue } from '../../library/json-value.ts'
import type { Task } from '../../library/task.ts'
import { comparable } from '../scoring/exact-match.ts'
import { DataError } from '../sources/data-error.ts'
import type { Solution } from '../task-set.ts'
import type { GivenScorer, OwnReference } from './own-scorer.ts'
import type { PlacedQuestion } from './question.ts'

/** A scorer that needs no code: decides when a model's answer meets a question's `answer`. */
interface NamedScorer {
  readonly contract: AnswerContract
  /** For an answer that fits the contract. Throws if the question's own answer cannot be used. */
  meets(answer: JsonValue, expected: JsonValue): boolean
  /** An answer that meets it, if one can be derived. */
  solution?(expected: JsonValue): JsonValue
  /** Set if a text stands for JSON, as in a CSV cell. */
  readonly isJson?: true
}

/** A model's text may have megabytes; only its beginning is searched. */
const longestSearched = 100_000

const anyJson: AnswerContract = {
  name: 'json',
  requirement: 'The answer is a JSON value of the form that the question asks for.',
  example: { name: 'Ada', year: 1815 },
  types: ['string', 'number', 'boolean', 'array', 'object'],
  check: () => ({ verdict: 'fits' }),
  description: { name: 'json' },
}

const namedScorers = {
  contains: {
    contract: freeText,
    meets: (answer, expected) => {
      const said = comparable((answer as string).slice(0, longestSearched))
      return textsIn(expected).some((text) => said.includes(comparable(text)))
    },
    solution: (expected) => textsIn(expected)[0]!,
  },
  regex: {
    contract: freeText,
    // RE2 takes linear time for any pattern, so a hostile answer cannot hang it.
    meets: (answer, expected) =>
      patternIn(expected)
        .matcher((answer as string).slice(0, longestSearched))
        .find(),
  },
  'json-schema': {
    contract: anyJson,
    meets: (answer, expected) => schemaIn(expected).safeParse(answer).success,
    isJson: true,
  },
} as const satisfies Readonly<Record<string, NamedScorer>>

export type ScorerName = keyof typeof namedScorers

export const scorerNames = Object.keys(namedScorers) as ScorerName[]

export function scorerContract(name: ScorerName): AnswerContract {
  return namedScorers[name].contract
}

export function namedScorer(name: ScorerName): GivenScorer {
  const { meets } = namedScorers[name]
  return { version: `${name}-1`, score: (answer, { answer: expected }) => meets(answer, expected) }
}

/** The hidden part of a question for a named scorer. Throws a `DataError` if something is wrong with it. */
export function namedPart(
  { question, at }: PlacedQuestion,
  task: Task,
  name: ScorerName,
): { readonly reference: OwnReference; readonly solution?: Solution } {
  const { metadata = {} } = question
  const { meets, solution, isJson }: NamedScorer = namedScorers[name]
  if (question.answer === undefined)
    throw new DataError(`is missing, and the scorer is '${name}'.`, at, 'answer')
  const isCell = isJson === true && typeof question.answer === 'string'
  const answer = isCell ? jsonIn(question.answer) : question.answer
  const isMet = (value: JsonValue) => {
    try {
      return meets(value, answer)
    } catch (error) {
      throw new DataError(`${(error as Error).message}; the scorer is '${name}'.`, at, 'answer')
    }
  }
  isMet('')
  // A cell may hold JSON or a plain text: a text that is right itself is not read as JSON.
  const read = (value: JsonValue) => (isCell && !isMet(value) ? jsonIn(value) : value)
  const wrong = question.wrong?.map(read)
  const given = question.solution === undefined ? undefined : read(question.solution)
  const right = given ?? solution?.(answer)
  if (right !== undefined && !isMet(right))
    throw new DataError(`does not score 1 by the scorer '${name}'.`, at, 'solution')
  const index = wrong?.findIndex(isMet) ?? -1
  if (index !== -1) throw new DataError('is a right answer. Remove it.', at, `wrong[${index}]`)
  const reference: OwnReference = { kind: 'given', answer, question: task.question, metadata }
  return { reference, solution: right === undefined ? undefined : { answer: right, wrong } }
}

/** The JSON that a text holds, or the text itself. */
function jsonIn(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value) as JsonValue
  } catch {
    return value
  }
}

function textsIn(expected: JsonValue): string[] {
  const texts = Array.isArray(expected) ? expected : [expected]
  if (texts.length > 0 && texts.every((text) => typeof text === 'string' && text.trim() !== ''))
    return texts as string[]
  throw new Error('must be a text that an answer contains, or a list of such texts')
}

const patterns = new Map<string, RE2JS>()

function patternIn(expected: JsonValue): RE2JS {
  if (typeof expected !== 'string' || expected === '') throw new Error('must be a regular expression')
  const known = patterns.get(expected)
  if (known !== undefined) return known
  try {
    const made = RE2JS.compile(expected)
    patterns.set(expected, made)
    return made
  } catch (error) {
    throw new Error(
      `is no regular expression of RE2, which has no look-around and no back references (${(error as Error).message})`,
    )
  }
}

const schemas = new WeakMap<object, z.ZodType>()

function schemaIn(expected: JsonValue): z.ZodType {
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected))
    throw new Error('must be a JSON Schema: an object, or a text that holds one')
  const known = schemas.get(expected)
  if (known !== undefined) return known
  refusePatterns(expected)
  const made = z.fromJSONSchema(expected as Parameters<typeof z.fromJSONSchema>[0])
  schemas.set(expected, made)
  return made
}

/** Patterns would run in an engine that a hostile answer can hang. */
function refusePatterns(schema: JsonValue): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const [key, value] of Object.entries(schema as JsonObject)) {
    const isPattern = (key === 'pattern' && typeof value === 'string') || key === 'patternProperties'
    if (isPattern)
      throw new Error(`has '${key}', which is not supported here: use enum or const, or the scorer 'regex'`)
    refusePatterns(value as JsonValue)
  }
}
