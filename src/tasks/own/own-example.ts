import type { JsonValue } from '../../library/json-value.ts'
import type { Task } from '../../library/task.ts'
import { comparable } from '../scoring/text.ts'
import { DataError } from '../sources/data-error.ts'
import type { Solution } from '../task-set.ts'
import { type AnswerKind, booleanOf, numberOf, textsOf } from './answer-kind.ts'
import type { ComparedReference, OwnReference } from './own-reference.ts'
import { scoreCompared } from './own-scorer.ts'
import { programOf, programTests } from './public-task.ts'
import type { Question, QuestionPlace } from './question.ts'

/** The hidden half of an example. The solution lies apart from the reference, which says what scoring rests on. */
export interface HiddenPart {
  readonly reference: OwnReference
  readonly solution?: Solution
}

export interface AnswerRules {
  readonly kind: AnswerKind
  /** Of numbers: a share of the expected one. */
  readonly tolerance: number
}

/** What a question's answers are scored against, or a `DataError` that says what is wrong with them. */
export function hiddenPart(
  question: Question,
  task: Task,
  { kind, tolerance }: AnswerRules,
  at: QuestionPlace,
): HiddenPart {
  if (kind === 'code') return programPart(question, at)
  if (question.answer === undefined)
    throw new DataError(`is missing, and answers are of the kind '${kind}'.`, at, 'answer')
  const reader = readers[kind]
  const read = (value: JsonValue, field: string): string => {
    const said = reader.read(value, task, question)
    if (said !== undefined) return said
    throw new DataError(`must be ${reader.expected(task)}; answers are of the kind '${kind}'.`, at, field)
  }
  const right = read(question.answer, 'answer')
  const reference = reader.reference(right, question.answer, tolerance)
  const isRight = (answer: string) => scoreCompared(answer, reference).score === 1
  const solution = question.solution === undefined ? right : read(question.solution, 'solution')
  if (!isRight(solution))
    throw new DataError(
      'does not agree with the answer. Leave it out: the answer is the solution.',
      at,
      'solution',
    )
  const wrong = question.wrong?.map((value, index) => {
    const answer = read(value, `wrong[${index}]`)
    if (!isRight(answer)) return answer
    throw new DataError('is a right answer. Remove it, or correct the answer.', at, `wrong[${index}]`)
  })
  return { reference, solution: { answer: solution, wrong } }
}

type AnswerForm = Exclude<AnswerKind, 'code'>

/** How answers of a kind are read and compared. */
interface AnswerReader {
  /** The answer as a model should give it, or undefined. */
  read(value: JsonValue, task: Task, question: Question): string | undefined
  expected(task: Task): string
  /** For an answer that was read, as it was given, and a tolerance. */
  reference(right: string, given: JsonValue, tolerance: number): ComparedReference
}

const readers: Readonly<Record<AnswerForm, AnswerReader>> = {
  option: {
    read: labelOf,
    expected: ({ options = [] }) =>
      `the label of an option, which is one letter, or its text (${options.map(({ label }) => label).join(', ') || 'there are no options'})`,
    reference: (label) => ({ kind: 'choice', label }),
  },
  boolean: {
    read: (value) => booleanOf(value)?.toString(),
    expected: () => 'true or false (or yes or no)',
    reference: (right) => ({ kind: 'boolean', value: right === 'true' }),
  },
  number: {
    read: numberOf,
    expected: () => 'a decimal number without unit, with more than 15 digits as a string',
    reference: (number, _, tolerance) => ({ kind: 'number', number, tolerance }),
  },
  text: {
    read: (value) => textsOf(value)?.[0],
    expected: () => 'a text, or a list of accepted texts',
    reference: (_, given) => ({ kind: 'text', accepted: textsOf(given)! }),
  },
}

/** By label, else by text. With options given as texts alone, an answer that is both would be a guess. */
function labelOf(value: JsonValue, { options = [] }: Task, question: Question): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const said = comparable(String(value))
  const byLabel = options.find(({ label }) => comparable(label) === said)
  const byText = options.filter(({ text }) => comparable(text) === said)
  const plain = typeof question.options?.[0] === 'string'
  if (byLabel !== undefined && plain && byText.some((option) => option !== byLabel)) return undefined
  const option = byLabel ?? (byText.length === 1 ? byText[0] : undefined)
  return option !== undefined && /^[A-Za-z]$/.test(option.label) ? option.label.toUpperCase() : undefined
}

function programPart(question: Question, at: QuestionPlace): HiddenPart {
  const { tests, test, answer, wrong = [] } = question
  const source = question.solution ?? answer
  for (const [field, value] of [
    [question.solution === undefined ? 'answer' : 'solution', source],
    ...wrong.map((one, index): [string, JsonValue] => [`wrong[${index}]`, one]),
  ] as [string, JsonValue | undefined][])
    if (value !== undefined && typeof value !== 'string')
      throw new DataError('must be the text of a program.', at, field)
  const solution = source === undefined ? undefined : { answer: source, wrong: question.wrong }
  const program = programOf(question)
  if (test !== undefined) {
    if (program?.mode !== 'function')
      throw new DataError(
        'is missing. Name the function that check(candidate) is given: "program": {"mode": "function", "entryPoint": "…"}.',
        at,
        'program',
      )
    const { starterCode: prompt, entryPoint } = program
    return { reference: { kind: 'humaneval', prompt, entryPoint, test }, solution }
  }
  if (tests === undefined || program === undefined)
    throw new DataError("are missing, and answers are of the kind 'code'. Give tests or test.", at, 'tests')
  return {
    reference: {
      kind: 'livecodebench',
      program,
      publicTests: programTests(question.publicTests ?? [], program, at, 'publicTests'),
      privateTests: JSON.stringify(programTests(tests, program, at, 'tests')),
    },
    solution,
  }
}
