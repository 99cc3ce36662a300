import { z } from 'zod'
import { numberTextReference } from '../scoring/raw-reference.ts'
import { DataError } from '../sources/data-error.ts'
import { readRows } from '../sources/records.ts'
import { everyExample, type Split, SplitCollector, type Wanted } from './split.ts'

const row = z.object({ question: z.string().min(1), answer: z.string() })

/** GSM8K has no ids of its own: an example is `<split>-<index>`. */
export async function readGsm8k(path: string, split: string, wanted: Wanted = everyExample): Promise<Split> {
  const examples = new SplitCollector()
  const file = await readRows(path, row, ({ question, answer }, at) => {
    const id = `${split}-${at.index}`
    examples.addId(id, at, 'question')
    if (!wanted(id)) return
    const reference = numberTextReference(answer)
    if (reference === undefined)
      throw new DataError("has no '####' before the final answer.", { ...at, field: 'answer' })
    examples.addTask({ id, question, metadata: {} })
    examples.addReference(id, reference)
  })
  return examples.split([file])
}
