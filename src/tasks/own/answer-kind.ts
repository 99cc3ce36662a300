import type { JsonValue } from '../../library/json-value.ts'
import { readNumber } from '../scoring/number.ts'
import { TaskSetError } from '../task-set.ts'
import type { Question } from './question.ts'
import type { PlacedQuestion } from './question-file.ts'

/** What the answers of a task set are, and so how they are asked for and compared. */
export const answerKinds = ['option', 'boolean', 'number', 'text', 'code'] as const

export type AnswerKind = (typeof answerKinds)[number]

const plurals: Readonly<Record<AnswerKind, string>> = {
  option: 'options',
  boolean: 'true or false',
  number: 'numbers',
  text: 'texts',
  code: 'programs',
}

const shownRows = 3

/** The one kind that all questions are of, with a sentence that says so. A mixture is refused. */
export function inferAnswerKind(questions: readonly PlacedQuestion[]): { kind: AnswerKind; note: string } {
  const rows = Map.groupBy(questions, ({ question }) => kindOfQuestion(question))
  const [kind] = rows.keys()
  if (rows.size > 1) {
    const groups = [...rows].map(([each, members]) => `${each ?? 'other data'} (${placesOf(members)})`)
    throw new TaskSetError(
      `The answers are of several kinds: ${groups.join('; ')}. Make them alike, or say which kind is meant: ` +
        `answer: ${answerKinds.map((each) => `'${each}'`).join(' | ')}.`,
    )
  }
  if (kind === undefined)
    throw new TaskSetError(
      `The answers are neither options, true or false, numbers, texts nor programs (${placesOf(questions)}). ` +
        'Give a contract and a scorer of your own.',
    )
  const all = questions.length === 1 ? 'the only one is' : `all ${questions.length} are`
  return { kind, note: `Answers are taken as ${plurals[kind]}: ${all}. The setting answer says otherwise.` }
}

function kindOfQuestion({ answer, options, tests, test }: Question): AnswerKind | undefined {
  if (tests !== undefined || test !== undefined) return 'code'
  if (options !== undefined) return 'option'
  if (booleanOf(answer!) !== undefined) return 'boolean'
  if (numberOf(answer!) !== undefined) return 'number'
  return textsOf(answer!) === undefined ? undefined : 'text'
}

function placesOf(questions: readonly PlacedQuestion[]): string {
  const shown = questions.slice(0, shownRows).map(({ at }) => `${at.file} row ${at.row}`)
  const more = questions.length - shown.length
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`
}

export function booleanOf(answer: JsonValue): boolean | undefined {
  if (typeof answer === 'boolean') return answer
  if (typeof answer !== 'string') return undefined
  const word = answer.trim().toLowerCase()
  return word === 'true' || word === 'yes' ? true : word === 'false' || word === 'no' ? false : undefined
}

/** As text: a string keeps all its digits, a JSON number those that a double has. */
export function numberOf(answer: JsonValue): string | undefined {
  // A whole number beyond 2^53 has lost digits already, and one with an exponent is not of the answer's form.
  if (typeof answer === 'number' && Number.isInteger(answer) && !Number.isSafeInteger(answer))
    return undefined
  if (typeof answer !== 'string' && typeof answer !== 'number') return undefined
  const text = String(answer).trim()
  return readNumber(text) === undefined ? undefined : text
}

/** A text, or several of which each is right. */
export function textsOf(answer: JsonValue): readonly string[] | undefined {
  const list: readonly JsonValue[] = Array.isArray(answer) ? answer : [answer as JsonValue]
  const texts = list.flatMap((one) => (typeof one === 'string' || typeof one === 'number' ? String(one) : []))
  return texts.length === list.length && texts.length > 0 && texts.every((text) => text.trim() !== '')
    ? texts
    : undefined
}
