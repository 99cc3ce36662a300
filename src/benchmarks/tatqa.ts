import { z } from 'zod'
import { pythonNumberText } from '../python/float.ts'
import { pythonInt } from '../python/number-syntax.ts'
import { DataError } from './data-error.ts'
import { JsonNumber, type RecordPlace, readJsonArray } from './records.ts'
import type { TatqaReference } from './reference.ts'
import { everyExample, type Split, SplitCollector, type Wanted } from './split.ts'

const question = z.object({
  uid: z.string().min(1),
  question: z.string().min(1),
  answer: z.union([z.string(), z.array(z.string()), z.instanceof(JsonNumber)]).optional(),
  answer_type: z.enum(['span', 'multi-span', 'arithmetic', 'count']).optional(),
  scale: z.enum(['', 'thousand', 'million', 'billion', 'percent']).optional(),
})

const entry = z.object({
  table: z.object({ uid: z.string().min(1), table: z.array(z.array(z.string())) }),
  paragraphs: z.array(z.object({ order: z.int(), text: z.string() })),
  questions: z.array(question),
})

/** An example is `<table uid>:<question uid>`. The official test file withholds all answers: it gives tasks only. */
export async function readTatqa(path: string, wanted: Wanted = everyExample): Promise<Split> {
  const examples = new SplitCollector()
  const file = await readJsonArray(
    path,
    entry,
    ({ table, paragraphs, questions }, at) => {
      const context = [...paragraphs].sort((a, b) => a.order - b.order).map((paragraph) => paragraph.text)
      const tables = [{ name: table.uid, rows: table.table }]
      for (const [index, item] of questions.entries()) {
        const field = `questions[${index}]`
        const id = `${table.uid}:${item.uid}`
        examples.addId(id, at, `${field}.uid`)
        if (!wanted(id)) continue
        examples.addTask({ id, question: item.question, context, tables, metadata: {} })
        const reference = referenceOf(item, at, field)
        if (reference !== undefined) examples.addReference(id, reference)
      }
    },
    { exactNumbers: 'answer' },
  )
  return examples.split([file])
}

function referenceOf(
  item: z.output<typeof question>,
  at: RecordPlace,
  field: string,
): TatqaReference | undefined {
  const { answer, answer_type: answerType, scale } = item
  if (answer === undefined && answerType === undefined) return undefined
  if (answer === undefined || answerType === undefined || scale === undefined)
    throw new DataError('answer, answer_type and scale come together or not at all.', { ...at, field })
  const answers = tatqaAnswers(answerType, answer)
  if (answers === undefined)
    throw new DataError(`is not what an answer of type '${answerType}' looks like.`, {
      ...at,
      field: `${field}.answer`,
    })
  return { kind: 'tatqa', answerType, answers, scale }
}

/** The answers as the texts that the official scorer reads, or undefined where it would not read them. */
export function tatqaAnswers(
  answerType: TatqaReference['answerType'],
  answer: string | readonly string[] | JsonNumber,
): readonly string[] | undefined {
  if (answerType === 'span' || answerType === 'multi-span')
    return typeof answer === 'object' && 'length' in answer ? answer : undefined
  if (typeof answer !== 'string' && !(answer instanceof JsonNumber)) return undefined
  const text = typeof answer === 'string' ? answer : pythonNumberText(answer.source)
  if (answerType === 'arithmetic') return [text]
  // A count is read as an integer; a float (which no official file has) would be cut off.
  const count = typeof answer === 'string' ? pythonInt(answer) : BigInt(Math.trunc(Number(answer.source)))
  return count === undefined ? undefined : [count.toString()]
}
