import type { NumberTextReference } from '../benchmarks/reference.ts'
import { pythonStrip } from '../python/text.ts'
import { invalidAnswer, matched, type Score } from './scorer.ts'

/** GSM8K: equal as text once commas are gone. 42.0 and 042 are not 42; there is no tolerance. */
export function scoreGsm8k(answer: unknown, { text }: NumberTextReference): Score {
  if (typeof answer !== 'string') return invalidAnswer
  const number = pythonStrip(answer)
  if (!/^-?[0-9.,]+$/.test(number)) return invalidAnswer
  return matched(number.replaceAll(',', '') === text.replaceAll(',', ''))
}
