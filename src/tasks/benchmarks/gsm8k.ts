import { z } from 'zod'
import { numericString } from '../../library/answer-contract.ts'
import { pythonStrip } from '../../python/text.ts'
import type { NumberTextReference } from '../scoring/reference.ts'
import { DataError } from '../sources/data-error.ts'
import { readRecords } from '../sources/records.ts'
import type { Benchmark } from './benchmark.ts'
import { published } from './published.ts'

const row = z.object({ question: z.string().min(1), answer: z.string() })

/** Arithmetic word problems with a free numerical answer. They have no ids: an example is `<split>-<index>`. */
export const gsm8k: Benchmark = {
  name: 'gsm8k',
  title: 'GSM8K',
  licence: 'MIT',
  metric: 'accuracy',
  contract: numericString,
  furtherRoles: ['logic_reasoner', 'quantitative_modeler', 'calculation_auditor'],
  tools: ['calculator', 'python_exec'],
  ...published['gsm8k']!,
  d3: { split: 'train' },
  q1: { train: 'train', test: 'test' },
  async read({ split, paths }, examples) {
    const file = await readRecords(paths[0]!, row, ({ question, answer }, at) => {
      const id = `${split}-${at.index}`
      if (!examples.claim(id, at, 'question')) return
      const reference = numberTextReference(answer)
      if (reference === undefined) throw new DataError("has no '####' before the final answer.", at, 'answer')
      examples.add(id, { question, metadata: {} }, reference)
    })
    examples.files.push(file)
  },
}

/** A worked solution ends with `####` and the answer. Undefined without that mark. */
export function numberTextReference(raw: string): NumberTextReference | undefined {
  const mark = raw.lastIndexOf('####')
  return mark === -1 ? undefined : { kind: 'number-text', text: pythonStrip(raw.slice(mark + 4)) }
}
