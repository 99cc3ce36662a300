import { z } from 'zod'
import { booleanReference } from '../scoring/raw-reference.ts'
import { DataError } from '../sources/data-error.ts'
import { readJsonArray } from '../sources/records.ts'
import { everyExample, type Split, SplitCollector, type Wanted } from './split.ts'

const row = z.object({
  qid: z.string().min(1),
  question: z.string().min(1),
  answer: z.union([z.boolean(), z.string()]),
})

/**
 * Only the question is public. Term, description, facts, decomposition and evidence are the annotators' way to the
 * answer, which the hidden test set withholds as well.
 */
export async function readStrategyqa(path: string, wanted: Wanted = everyExample): Promise<Split> {
  const examples = new SplitCollector()
  const file = await readJsonArray(path, row, ({ qid, question, answer }, at) => {
    examples.addId(qid, at, 'qid')
    if (!wanted(qid)) return
    examples.addTask({ id: qid, question, metadata: {} })
    const reference = booleanReference(answer)
    if (reference === undefined) throw new DataError('is neither yes nor no.', { ...at, field: 'answer' })
    examples.addReference(qid, reference)
  })
  return examples.split([file])
}
