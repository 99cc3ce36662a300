import { z } from 'zod'
import { optionLabel } from '../../library/answer-contract.ts'
import { choiceReference, optionLetter } from '../scoring/exact-match.ts'
import { DataError } from '../sources/data-error.ts'
import { readRecords } from '../sources/records.ts'
import { d1Parts, q2Parts, q3Parts } from '../studies/draws.ts'
import type { Benchmark } from './benchmark.ts'
import { published } from './published.ts'

const row = z.object({
  question_id: z.int().nonnegative(),
  question: z.string().min(1),
  options: z.array(z.string()).min(1).max(26),
  answer_index: z.int().min(0).max(25),
  category: z.string(),
  src: z.string(),
})

/** Fourteen fields with up to ten options; many questions are numerical. There are no passages to read. */
export const mmluPro: Benchmark = {
  name: 'mmlu_pro',
  title: 'MMLU-Pro',
  licence: 'Apache-2.0',
  metric: 'accuracy',
  contract: optionLabel,
  furtherRoles: [
    'knowledge_reasoner',
    'option_eliminator',
    'logic_reasoner',
    'quantitative_modeler',
    'calculation_auditor',
  ],
  tools: ['calculator', 'python_exec'],
  ...published['mmlu_pro']!,
  q1: { train: 'test', test: 'test', evaluation: 500 },
  d3: { split: 'validation', standIn: 'test' },
  furtherStudies: { split: 'test', q2: q2Parts, q3: q3Parts, d1: d1Parts },
  async read({ paths }, examples) {
    const file = await readRecords(paths[0]!, row, (record, at) => {
      const id = String(record.question_id)
      if (!examples.claim(id, at, 'question_id')) return
      // The dataset pads short lists with "N/A", which the official evaluation drops. Labels keep their index.
      const options = record.options
        .map((text, index) => ({ label: optionLetter(index), text }))
        .filter((option) => option.text !== 'N/A')
      // The paper uses the index; the letter in `answer` contradicts it once.
      const reference = choiceReference(record.answer_index)
      if (!options.some((option) => option.label === reference.label))
        throw new DataError(`${record.answer_index} is the index of no option.`, at, 'answer_index')
      const metadata = { category: record.category, source: record.src }
      examples.add(id, { question: record.question, options, metadata }, reference)
    })
    examples.files.push(file)
  },
}
