import { z } from 'zod'
import { schemaContract, valuesAndScale } from '../../library/answer-contract.ts'
import type { JsonValue } from '../../library/json-value.ts'
import { invalidAnswer, matched } from '../../library/score.ts'
import { pythonNumberText } from '../../python/float.ts'
import { pythonInt } from '../../python/number-syntax.ts'
import { scoreD1Tatqa } from '../scoring/d1-tatqa.ts'
import type { Reference, TatqaReference } from '../scoring/reference.ts'
import { DataError } from '../sources/data-error.ts'
import { JsonNumber, type RecordPlace, readRecords } from '../sources/records.ts'
import { d1Parts, q2TableParts, q3TableParts } from '../studies/draws.ts'
import type { Benchmark } from './benchmark.ts'
import { published } from './published.ts'

const questionRecord = z.object({
  uid: z.string().min(1),
  question: z.string().min(1),
  answer: z.union([z.string(), z.array(z.string()), z.instanceof(JsonNumber)]).optional(),
  answer_type: z.enum(['span', 'multi-span', 'arithmetic', 'count']).optional(),
  scale: z.enum(['', 'thousand', 'million', 'billion', 'percent']).optional(),
})

const entry = z.object({
  table: z.object({ uid: z.string().min(1), table: z.array(z.array(z.string())) }),
  paragraphs: z.array(z.object({ order: z.int(), text: z.string() })),
  questions: z.array(questionRecord),
})

/** D1 predates the official F1: the answer is one line, right or wrong. */
const oneLine = schemaContract({
  name: 'd1-line',
  requirement:
    'The answer is a string of one line: a number followed by its scale (thousand, million, billion or percent) if it ' +
    'has one, a span of text, or several spans separated by semicolons.',
  example: '15.64 percent',
  schema: z.string().regex(/^[^\r\n]*\S[^\r\n]*$/),
})

/**
 * Questions on a financial table with paragraphs; spans, counts and arithmetic with a scale. An example is
 * `<table uid>:<question uid>`.
 */
export const tatqa: Benchmark = {
  name: 'tatqa',
  title: 'TAT-QA',
  licence: 'CC-BY-4.0',
  metric: 'F1',
  contract: valuesAndScale,
  furtherRoles: ['evidence_analyst', 'quantitative_modeler', 'calculation_auditor', 'table_interpreter'],
  tools: ['calculator', 'python_exec', 'table_reader'],
  ...published['tatqa']!,
  q1: { train: 'train', test: 'test', standIns: [{ train: 'dev', test: 'test' }] },
  furtherStudies: { split: 'dev', q2: q2TableParts, q3: q3TableParts, d1: d1Parts },
  d1: {
    metric: 'accuracy',
    contract: oneLine,
    scorer: {
      version: 'd1-tatqa-1',
      score(answer, reference) {
        const result = scoreLine(answer, reference)
        return result?.extracted == null ? invalidAnswer : matched(result.scoreCorrect)
      },
      solution(reference) {
        if (reference.kind !== 'tatqa') return undefined
        const answer = goldLines(reference).find((line) => scoreLine(line, reference)?.scoreCorrect)
        return answer === undefined ? undefined : { answer }
      },
    },
  },
  async read({ paths }, examples) {
    const file = await readRecords(
      paths[0]!,
      entry,
      ({ table, paragraphs, questions }, at) => {
        const context = [...paragraphs].sort((a, b) => a.order - b.order).map(({ text }) => text)
        const tables = [{ name: table.uid, rows: table.table }]
        for (const [index, { uid, question, ...answered }] of questions.entries()) {
          const field = `questions[${index}]`
          const id = `${table.uid}:${uid}`
          if (!examples.claim(id, at, `${field}.uid`)) continue
          examples.add(id, { question, context, tables, metadata: {} }, referenceOf(answered, at, field))
        }
      },
      { exactNumbers: 'answer', isArray: true },
    )
    examples.files.push(file)
  },
}

function referenceOf(
  { answer, answer_type: answerType, scale }: Omit<z.output<typeof questionRecord>, 'uid' | 'question'>,
  at: RecordPlace,
  field: string,
): TatqaReference | undefined {
  if (answer === undefined && answerType === undefined) return undefined
  if (answer === undefined || answerType === undefined || scale === undefined)
    throw new DataError('answer, answer_type and scale come together or not at all.', at, field)
  const answers = tatqaAnswers(answerType, answer)
  if (answers === undefined)
    throw new DataError(`is not what an answer of type '${answerType}' looks like.`, at, `${field}.answer`)
  return { kind: 'tatqa', answerType, answers, scale }
}

/** The answers as the texts the official scorer reads; undefined if it would read none. */
export function tatqaAnswers(
  answerType: TatqaReference['answerType'],
  answer: string | readonly string[] | JsonNumber,
): readonly string[] | undefined {
  if (answerType === 'span' || answerType === 'multi-span')
    return typeof answer === 'object' && 'length' in answer ? answer : undefined
  if (typeof answer !== 'string' && !(answer instanceof JsonNumber)) return undefined
  const text = typeof answer === 'string' ? answer : pythonNumberText(answer.source)
  if (answerType === 'arithmetic') return [text]
  // A count is read as an integer; a float (none in the official files) would be truncated.
  const count = typeof answer === 'string' ? pythonInt(answer) : BigInt(Math.trunc(Number(answer.source)))
  return count === undefined ? undefined : [count.toString()]
}

/** D1 also rejects a right answer after an execution failure; the study's task set handles that for all its scorers. */
function scoreLine(answer: JsonValue, reference: Reference) {
  if (typeof answer !== 'string' || reference.kind !== 'tatqa') return undefined
  return scoreD1Tatqa(`FINAL: ${answer}`, reference, [])
}

/** A number takes the scale as a suffix, a text does not, and a span may already have one. */
function goldLines({ answers, scale }: TatqaReference): readonly string[] {
  return [answers.join('; '), answers.map((answer) => `${answer} ${scale}`).join('; ')]
}
