import { z } from 'zod'
import { booleanString } from '../../library/answer-contract.ts'
import { booleanReference } from '../scoring/exact-match.ts'
import { DataError } from '../sources/data-error.ts'
import { type RecordPlace, readRecords } from '../sources/records.ts'
import type { Benchmark } from './benchmark.ts'
import { published } from './published.ts'

const row = z.object({
  qid: z.string().min(1),
  question: z.string().min(1),
  answer: z.union([z.boolean(), z.string()]),
})

/**
 * Yes-or-no questions with hidden intermediate facts: recall, weigh, infer, judge. The model's own knowledge is the
 * only source, and comparing dates or sizes needs no tool.
 */
export const strategyqa: Benchmark = {
  name: 'strategyqa',
  title: 'StrategyQA',
  licence: 'MIT',
  metric: 'accuracy',
  contract: booleanString,
  furtherRoles: ['evidence_analyst', 'knowledge_reasoner', 'logic_reasoner', 'entailment_judge'],
  tools: [],
  ...published['strategyqa']!,
  q1: { train: 'dev + train', test: 'dev + train', evaluation: 500 },
  async read({ paths }, examples) {
    // Only the question is public. Term, description, facts, decomposition and evidence reveal the answer, and the
    // hidden test set withholds them too.
    const take = ({ qid, question, answer }: z.output<typeof row>, at: RecordPlace) => {
      if (!examples.claim(qid, at, 'qid')) return
      const reference = booleanReference(answer)
      if (reference === undefined) throw new DataError('is neither yes nor no.', at, 'answer')
      examples.add(qid, { question, metadata: {} }, reference)
    }
    examples.files.push(await readRecords(paths[0]!, row, take, { isArray: true }))
  },
}
