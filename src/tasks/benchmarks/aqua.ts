import { z } from 'zod'
import { optionLabel } from '../../library/answer-contract.ts'
import { choiceReference, optionLetter } from '../scoring/exact-match.ts'
import { DataError } from '../sources/data-error.ts'
import { readRecords } from '../sources/records.ts'
import type { Benchmark } from './benchmark.ts'
import { published } from './published.ts'

const row = z.object({
  question: z.string().min(1),
  options: z.array(z.string()).min(2).max(26),
  correct: z.string().regex(/^[A-Za-z]$/, 'is not the letter of an option'),
})

/**
 * Algebra word problems with five options. They have no ids: an example is `<split>-<index>`. The rationale gives the
 * answer away, so it is not read.
 */
export const aqua: Benchmark = {
  name: 'aqua',
  title: 'AQuA-RAT',
  licence: 'Apache-2.0',
  metric: 'accuracy',
  contract: optionLabel,
  furtherRoles: ['option_eliminator', 'logic_reasoner', 'quantitative_modeler', 'calculation_auditor'],
  tools: ['calculator', 'python_exec'],
  ...published['aqua']!,
  q1: { train: 'train', test: 'test', standIns: [{ train: 'dev', test: 'test' }] },
  async read({ split, paths }, examples) {
    const file = await readRecords(paths[0]!, row, (record, at) => {
      const id = `${split}-${at.index}`
      if (!examples.claim(id, at, 'question')) return
      const options = record.options.map((option, index) => {
        const label = optionLetter(index)
        if (!option.startsWith(`${label})`))
          throw new DataError(`does not begin with '${label})'.`, at, `options[${index}]`)
        return { label, text: option.slice(2).trim() }
      })
      const reference = choiceReference(record.correct)
      if (!options.some((option) => option.label === reference.label))
        throw new DataError(`there is no option ${reference.label}.`, at, 'correct')
      examples.add(id, { question: record.question, options, metadata: {} }, reference)
    })
    examples.files.push(file)
  },
}
