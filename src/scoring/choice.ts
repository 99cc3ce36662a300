import type { ChoiceReference } from '../benchmarks/reference.ts'
import { pythonStrip } from '../python/text.ts'
import { invalidAnswer, matched, type Score } from './scorer.ts'

/** MMLU-Pro and AQuA-RAT: one English letter, in either case. Nothing that merely converts to one. */
export function scoreChoice(answer: unknown, { label }: ChoiceReference): Score {
  if (typeof answer !== 'string') return invalidAnswer
  const letter = pythonStrip(answer)
  return /^[A-Za-z]$/.test(letter) ? matched(letter.toUpperCase() === label) : invalidAnswer
}
