import type { JsonValue } from '../../library/json-value.ts'
import type { Task } from '../../library/task.ts'
import { comparable } from '../scoring/exact-match.ts'
import { readNumber } from '../scoring/number.ts'
import type { Reference } from '../scoring/reference.ts'
import type { AnswerReference } from '../scoring/reference-scorer.ts'
import { TaskSetError } from '../task-set.ts'
import type { PlacedQuestion, Question } from './question.ts'

/** The kind of a task set's answers: decides how they are requested and compared. */
export const answerKinds = ['option', 'boolean', 'number', 'text', 'code'] as const

export type AnswerKind = (typeof answerKinds)[number]

/** How answers of a kind are read and compared. Programs are run instead. */
interface ComparedKind {
  readonly plural: string
  /** The answer in the form a model should give it, or undefined. */
  read(value: JsonValue, task: Pick<Task, 'options'>, question: Question): string | undefined
  expected(task: Task): string
  /** Makes the reference from the answer as read, the answer as given, and a tolerance. */
  reference(right: string, given: JsonValue, tolerance: number): Reference & AnswerReference
}

export const comparedKinds: Readonly<Record<Exclude<AnswerKind, 'code'>, ComparedKind>> = {
  option: {
    plural: 'options',
    read: labelOf,
    expected: ({ options = [] }) =>
      `the label of an option, which is one letter, or its text (${options.map(({ label }) => label).join(', ') || 'there are no options'})`,
    reference: (label) => ({ kind: 'choice', label }),
  },
  boolean: {
    plural: 'true or false',
    read: booleanOf,
    expected: () => 'true or false (or yes or no)',
    reference: (right) => ({ kind: 'boolean', value: right === 'true' }),
  },
  number: {
    plural: 'numbers',
    read: numberOf,
    expected: () => 'a decimal number without unit, with more than 15 digits as a string',
    reference: (number, _, tolerance) => ({ kind: 'number', number, tolerance }),
  },
  text: {
    plural: 'texts',
    read: (value) => textsOf(value)?.[0],
    expected: () => 'a text, or a list of accepted texts',
    reference: (_, given) => ({ kind: 'text', accepted: textsOf(given)! }),
  },
}

const shownRows = 3

/** The kind that all questions share, with a sentence that says so. Throws for a mixture. */
export function inferAnswerKind(questions: readonly PlacedQuestion[]): { kind: AnswerKind; note: string } {
  const rows = Map.groupBy(questions, ({ question }) => kindOfQuestion(question))
  const [kind] = rows.keys()
  if (rows.size > 1) {
    const groups = [...rows].map(([each, members]) => `${each ?? 'other data'} (${placesOf(members)})`)
    throw new TaskSetError(
      `The answers are of several kinds: ${groups.join('; ')}. Use one kind, or set it with --answer ` +
        `or \`answer\` in the configuration: ${answerKinds.join(', ')}.`,
    )
  }
  if (kind === undefined)
    throw new TaskSetError(
      `The answers are neither options, true or false, numbers, texts nor programs (${placesOf(questions)}). ` +
        'Give a contract and a scorer of your own.',
    )
  const plural = kind === 'code' ? 'programs' : comparedKinds[kind].plural
  const all = questions.length === 1 ? 'the only one is' : `all ${questions.length} are`
  return {
    kind,
    note: `Answers are read as ${plural}: ${all}. Override it with --answer, or \`answer\` in the configuration.`,
  }
}

function kindOfQuestion(question: Question): AnswerKind | undefined {
  if (question.tests !== undefined || question.test !== undefined) return 'code'
  if (question.options !== undefined) return 'option'
  const kinds = ['boolean', 'number', 'text'] as const
  return kinds.find((kind) => comparedKinds[kind].read(question.answer!, {}, question) !== undefined)
}

function placesOf(questions: readonly PlacedQuestion[]): string {
  const shown = questions.slice(0, shownRows).map(({ at }) => `${at.file} row ${at.row}`)
  const more = questions.length - shown.length
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`
}

/** By label, else by text. If options are given as plain texts, an answer that could be either would be a guess. */
function labelOf(
  value: JsonValue,
  { options = [] }: Pick<Task, 'options'>,
  question: Question,
): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const said = comparable(String(value))
  const byLabel = options.find(({ label }) => comparable(label) === said)
  const byText = options.filter(({ text }) => comparable(text) === said)
  const plain = typeof question.options?.[0] === 'string'
  if (byLabel !== undefined && plain && byText.some((option) => option !== byLabel)) return undefined
  const option = byLabel ?? (byText.length === 1 ? byText[0] : undefined)
  return option !== undefined && /^[A-Za-z]$/.test(option.label) ? option.label.toUpperCase() : undefined
}

function booleanOf(answer: JsonValue): string | undefined {
  if (typeof answer !== 'boolean' && typeof answer !== 'string') return undefined
  const word = String(answer).trim().toLowerCase()
  return word === 'true' || word === 'yes' ? 'true' : word === 'false' || word === 'no' ? 'false' : undefined
}

/** A string keeps all its digits, a JSON number only those of a double. */
function numberOf(answer: JsonValue): string | undefined {
  // An integer beyond 2^53 has already lost digits, and an exponent does not fit the answer's form.
  if (typeof answer === 'number' && Number.isInteger(answer) && !Number.isSafeInteger(answer))
    return undefined
  if (typeof answer !== 'string' && typeof answer !== 'number') return undefined
  const text = String(answer).trim()
  return readNumber(text) === undefined ? undefined : text
}

/** A text, or a list of accepted texts. */
function textsOf(answer: JsonValue): readonly string[] | undefined {
  const list: readonly JsonValue[] = Array.isArray(answer) ? answer : [answer as JsonValue]
  const texts = list.flatMap((one) => (typeof one === 'string' || typeof one === 'number' ? String(one) : []))
  return texts.length === list.length && texts.length > 0 && texts.every((text) => text.trim() !== '')
    ? texts
    : undefined
}
