import { z } from 'zod'
import { optionLabel } from '../scoring/option-label.ts'
import { choiceReference } from '../scoring/raw-reference.ts'
import { DataError } from '../sources/data-error.ts'
import { readRows } from '../sources/records.ts'
import { everyExample, type Split, SplitCollector, type Wanted } from './split.ts'

const row = z.object({
  question: z.string().min(1),
  options: z.array(z.string()).min(2).max(26),
  correct: z.string().regex(/^[A-Za-z]$/, 'is not the letter of an option'),
})

/** AQuA-RAT has no ids of its own: an example is `<split>-<index>`. The rationale is part of the reference: left out. */
export async function readAqua(path: string, split: string, wanted: Wanted = everyExample): Promise<Split> {
  const examples = new SplitCollector()
  const file = await readRows(path, row, (record, at) => {
    const id = `${split}-${at.index}`
    examples.addId(id, at, 'question')
    if (!wanted(id)) return
    const options = record.options.map((option, index) => {
      const label = optionLabel(index)
      if (!option.startsWith(`${label})`))
        throw new DataError(`does not begin with '${label})'.`, { ...at, field: `options[${index}]` })
      return { label, text: option.slice(2).trim() }
    })
    const reference = choiceReference(record.correct)
    if (!options.some((option) => option.label === reference.label))
      throw new DataError(`there is no option ${reference.label}.`, { ...at, field: 'correct' })
    examples.addTask({ id, question: record.question, options, metadata: {} })
    examples.addReference(id, reference)
  })
  return examples.split([file])
}
