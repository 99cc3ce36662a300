// How the values of the official files become references, as the paper's appendix C says.
import { pythonStrip } from '../python/text.ts'
import { optionLabel } from './option-label.ts'
import type { BooleanReference, ChoiceReference, NumberTextReference } from './reference.ts'

/** MMLU-Pro gives an index, AQuA-RAT a letter. */
export function choiceReference(raw: number | string): ChoiceReference {
  return { kind: 'choice', label: typeof raw === 'number' ? optionLabel(raw) : raw.toUpperCase() }
}

/** StrategyQA gives a Boolean, yes or no; TabFact 1, 0, entailed or refuted. Undefined for anything else. */
export function booleanReference(raw: boolean | number | string): BooleanReference | undefined {
  switch (String(raw).toLowerCase()) {
    case 'true':
    case 'yes':
    case '1':
    case 'entailed':
      return { kind: 'boolean', value: true }
    case 'false':
    case 'no':
    case '0':
    case 'refuted':
      return { kind: 'boolean', value: false }
    default:
      return undefined
  }
}

/** GSM8K ends a worked solution with `####` and the answer. Undefined without that mark. */
export function numberTextReference(raw: string): NumberTextReference | undefined {
  const mark = raw.lastIndexOf('####')
  return mark === -1 ? undefined : { kind: 'number-text', text: pythonStrip(raw.slice(mark + 4)) }
}
