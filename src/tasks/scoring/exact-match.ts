// Answers that are right or wrong by comparison: a choice, a Boolean, a number as text.
import { pythonStrip } from '../../numerics/python-text.ts'
import type { BooleanReference, ChoiceReference, NumberTextReference } from './reference.ts'
import { invalidAnswer, matched, type Score } from './scorer.ts'

/** One English letter, in either case. Characters that merely convert to one (the Kelvin sign) do not count. */
export function scoreChoice(answer: unknown, { label }: ChoiceReference): Score {
  if (typeof answer !== 'string') return invalidAnswer
  const letter = pythonStrip(answer)
  return /^[A-Za-z]$/.test(letter) ? matched(letter.toUpperCase() === label) : invalidAnswer
}

/** The string true or false in any case; a JSON Boolean is invalid. */
export function scoreBoolean(answer: unknown, { value }: BooleanReference): Score {
  if (typeof answer !== 'string') return invalidAnswer
  const word = pythonStrip(answer)
  // Without the `i` flag, which would take the long s (U+017F) for an s.
  if (/^[tT][rR][uU][eE]$/.test(word)) return matched(value)
  return /^[fF][aA][lL][sS][eE]$/.test(word) ? matched(!value) : invalidAnswer
}

/** Equal as text after commas are removed. 42.0 and 042 are not 42; there is no tolerance. */
export function scoreNumberText(answer: unknown, { text }: NumberTextReference): Score {
  if (typeof answer !== 'string') return invalidAnswer
  const number = pythonStrip(answer)
  if (!/^-?[0-9.,]+$/.test(number)) return invalidAnswer
  return matched(number.replaceAll(',', '') === text.replaceAll(',', ''))
}

/** The letter of the option at an index: 0 is A, 1 is B, and so on. */
export function optionLetter(index: number): string {
  if (!Number.isInteger(index) || index < 0 || index > 25)
    throw new RangeError(`No letter labels option ${index}.`)
  return String.fromCharCode(65 + index)
}

/** MMLU-Pro gives the index of the right option, AQuA-RAT its letter. */
export function choiceReference(raw: number | string): ChoiceReference {
  return { kind: 'choice', label: typeof raw === 'number' ? optionLetter(raw) : raw.toUpperCase() }
}

/** StrategyQA gives a Boolean, yes or no; TabFact 1, 0, entailed or refuted. Undefined for anything else. */
export function booleanReference(raw: boolean | number | string): BooleanReference | undefined {
  const word = String(raw).toLowerCase()
  if (['true', 'yes', '1', 'entailed'].includes(word)) return { kind: 'boolean', value: true }
  if (['false', 'no', '0', 'refuted'].includes(word)) return { kind: 'boolean', value: false }
  return undefined
}
