import { z } from 'zod'
import { optionLabel } from '../scoring/option-label.ts'
import { choiceReference } from '../scoring/raw-reference.ts'
import { DataError } from '../sources/data-error.ts'
import { readRows } from '../sources/records.ts'
import { everyExample, type Split, SplitCollector, type Wanted } from './split.ts'

const row = z.object({
  question_id: z.int().nonnegative(),
  question: z.string().min(1),
  options: z.array(z.string()).min(1).max(26),
  answer_index: z.int().min(0).max(25),
  category: z.string(),
  src: z.string(),
})

/** The reference is the option at `answer_index`, as the paper maps it; the letter in `answer` contradicts it once. */
export async function readMmluPro(path: string, wanted: Wanted = everyExample): Promise<Split> {
  const examples = new SplitCollector()
  const file = await readRows(path, row, (record, at) => {
    const id = String(record.question_id)
    examples.addId(id, at, 'question_id')
    if (!wanted(id)) return
    // The dataset fills short lists with "N/A", which the official evaluation drops. Labels stay with their index.
    const options = record.options
      .map((text, index) => ({ label: optionLabel(index), text }))
      .filter((option) => option.text !== 'N/A')
    const reference = choiceReference(record.answer_index)
    if (!options.some((option) => option.label === reference.label))
      throw new DataError(`${record.answer_index} is the index of no option.`, {
        ...at,
        field: 'answer_index',
      })
    examples.addTask({
      id,
      question: record.question,
      options,
      metadata: { category: record.category, source: record.src },
    })
    examples.addReference(id, reference)
  })
  return examples.split([file])
}
