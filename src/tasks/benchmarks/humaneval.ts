import { z } from 'zod'
import { codeString } from '../../library/answer-contract.ts'
import { readRecords } from '../sources/records.ts'
import type { Benchmark } from './benchmark.ts'
import { published } from './published.ts'
import { codeProfile } from './roles.ts'

const row = z.object({
  task_id: z.string().min(1),
  prompt: z.string().min(1),
  entry_point: z.string().min(1),
  test: z.string().min(1),
  canonical_solution: z.string().optional(),
})

/** Functions to complete. The paper trains on LiveCodeBench for it. */
export const humaneval: Benchmark = {
  name: 'humaneval',
  title: 'HumanEval',
  licence: 'MIT',
  metric: 'pass@1',
  contract: codeString,
  ...codeProfile,
  ...published['humaneval']!,
  d3: { split: 'test' },
  q1: {
    train: 'livecodebench/train',
    test: 'test',
    standIns: [
      { train: 'livecodebench/sample', test: 'test' },
      { train: 'test', test: 'test' },
    ],
  },
  async read({ paths }, examples) {
    const file = await readRecords(paths[0]!, row, (record, at) => {
      const { task_id: id, prompt, entry_point: entryPoint, test, canonical_solution: rest } = record
      if (!examples.claim(id, at, 'task_id')) return
      const program = { mode: 'function', starterCode: prompt, entryPoint } as const
      // The canonical solution continues the prompt.
      const solution = rest === undefined ? undefined : { program: prompt + rest }
      const reference = { kind: 'humaneval', prompt, entryPoint, test, solution } as const
      examples.add(id, { question: prompt, program, metadata: {} }, reference)
    })
    examples.files.push(file)
  },
}
