import { z } from 'zod'
import { readRows } from '../sources/records.ts'
import { everyExample, type Split, SplitCollector, type Wanted } from './split.ts'

const row = z.object({
  task_id: z.string().min(1),
  prompt: z.string().min(1),
  entry_point: z.string().min(1),
  test: z.string().min(1),
  canonical_solution: z.string().optional(),
})

/** The prompt is the question. `test` and `canonical_solution`, which goes on where the prompt ends, are hidden. */
export async function readHumaneval(path: string, wanted: Wanted = everyExample): Promise<Split> {
  const examples = new SplitCollector()
  const file = await readRows(path, row, (record, at) => {
    const { task_id: id, prompt, entry_point: entryPoint, test, canonical_solution: rest } = record
    examples.addId(id, at, 'task_id')
    if (!wanted(id)) return
    examples.addTask({
      id,
      question: prompt,
      program: { mode: 'function', starterCode: prompt, entryPoint },
      metadata: {},
    })
    const solution = rest === undefined ? {} : { solution: { program: prompt + rest } }
    examples.addReference(id, { kind: 'humaneval', prompt, entryPoint, test, ...solution })
  })
  return examples.split([file])
}
