import type { BooleanReference } from '../benchmarks/reference.ts'
import { pythonStrip } from '../python/text.ts'
import { invalidAnswer, matched, type Score } from './scorer.ts'

/** StrategyQA and TabFact: the string true or false in any case; a JSON Boolean is not one. */
export function scoreBoolean(answer: unknown, { value }: BooleanReference): Score {
  if (typeof answer !== 'string') return invalidAnswer
  const word = pythonStrip(answer)
  // No `i` flag with Unicode rules: the long s (U+017F) is no s here.
  if (/^[tT][rR][uU][eE]$/.test(word)) return matched(value)
  return /^[fF][aA][lL][sS][eE]$/.test(word) ? matched(!value) : invalidAnswer
}
