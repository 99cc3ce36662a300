import { z } from 'zod'
import { fieldName, findJsonFault } from '../../library/json-fault.ts'
import { type JsonValue, plain } from '../../library/json-value.ts'
import { DataError } from '../sources/data-error.ts'
import { checkRecord, type RecordPlace } from '../sources/records.ts'
import { didYouMean } from './nearest-name.ts'

const text = z.string()
const filled = text.refine((value) => value.trim() !== '', 'must not be blank')

export const answerSchema = z
  .custom<JsonValue>((value) => value !== null && plain(value) !== undefined, {
    message: 'must be JSON other than null, not nested too deeply',
  })
  .pipe(z.json() as z.ZodType<JsonValue, JsonValue>)

export const testSchema = z.strictObject({
  input: text,
  output: text,
  testtype: z.enum(['stdin', 'functional']).optional(),
})

export const programSchema = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('stdin'), starterCode: text.default('') }),
  z.strictObject({ mode: z.literal('function'), starterCode: text.default(''), entryPoint: filled }),
])

export const tableSchema = z.strictObject({
  name: text.default('table'),
  caption: text.exactOptional(),
  header: z.array(text).exactOptional(),
  rows: z.array(z.array(text)),
})

/** A question with its answer, as a row of a file or an object in code. docs/tasks.md explains the fields. */
export const questionSchema = z.strictObject({
  id: z.union([filled, z.int().transform(String)]).optional(),
  question: filled,
  answer: answerSchema.optional(),
  options: z
    .union([z.array(filled).min(2), z.array(z.strictObject({ label: filled, text })).min(2)])
    .optional(),
  context: z.union([text.transform((passage) => [passage]), z.array(text)]).optional(),
  tables: z.array(tableSchema).optional(),
  program: programSchema.optional(),
  publicTests: z.array(testSchema).optional(),
  tests: z.array(testSchema).min(1).optional(),
  test: filled.optional(),
  solution: answerSchema.optional(),
  wrong: z.array(answerSchema).optional(),
  metadata: z.record(text, text).optional(),
  split: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,63}$/, 'a split is called train, test or another lower-case name')
    .optional(),
})

/** As users write it. */
export type GivenQuestion = z.input<typeof questionSchema>
export type Question = z.output<typeof questionSchema>

export const questionFields: readonly string[] = Object.keys(questionSchema.shape)

/** A question, its location, and the split of its source, if any. */
export interface PlacedQuestion {
  readonly question: Question
  readonly at: RecordPlace
  readonly split?: string
}

/** Checks a question against the schema. Throws a `DataError` that names file, row and field. */
export function checkQuestion(value: unknown, at: RecordPlace, split?: string): PlacedQuestion {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DataError('is not an object with the fields question and answer.', at)
  const unknown = Object.keys(value).find((field) => !questionFields.includes(field))
  if (unknown !== undefined)
    throw new DataError(
      `there is no such field.${didYouMean(unknown, questionFields)} The fields are ${questionFields.join(', ')}; ` +
        'put your own fields under metadata.',
      at,
      unknown,
    )
  const question = checkRecord(questionSchema, value, at)
  // Reading a file detects this too, but questions may come from code.
  const fault = findJsonFault(JSON.stringify(question))
  if (fault !== undefined) throw new DataError(fault.problem, at, fieldName(fault.path))
  const { tests, test: check } = question
  if (tests !== undefined && check !== undefined)
    throw new DataError('and tests are both given; give one of the two.', at, 'test')
  if (question.answer === undefined && tests === undefined && check === undefined)
    throw new DataError('is missing. Give the right answer, or tests for a program.', at, 'answer')
  return { question, at, split }
}
