// Answers that are right or wrong by comparison: a choice, a Boolean, a number as text, a text.
import {
  type AnswerContract,
  booleanString,
  numericString,
  optionLabel,
} from '../../library/answer-contract.ts'
import { invalidAnswer, matched, type Score } from '../../library/score.ts'
import { pythonStrip } from '../../python/text.ts'
import type { BooleanReference, ChoiceReference, NumberTextReference, TextReference } from './reference.ts'

/** One English letter, in either case. Characters that only convert to one (the Kelvin sign) do not count. */
export function scoreChoice(answer: unknown, { label }: ChoiceReference): Score {
  const letter = textOf(answer, optionLabel)
  return letter === undefined ? invalidAnswer : matched(letter.toUpperCase() === label)
}

/** The string true or false in any case; a JSON Boolean is invalid. */
export function scoreBoolean(answer: unknown, { value }: BooleanReference): Score {
  const word = textOf(answer, booleanString)
  return word === undefined ? invalidAnswer : matched(word.toLowerCase() === String(value))
}

/** Equal as text after commas are removed. 42.0 and 042 are not 42; there is no tolerance. */
export function scoreNumberText(answer: unknown, { text }: NumberTextReference): Score {
  const number = textOf(answer, numericString)
  return number === undefined
    ? invalidAnswer
    : matched(number.replaceAll(',', '') === text.replaceAll(',', ''))
}

/** One of the accepted texts, ignoring case and white space. Punctuation and articles count. */
export function scoreText(answer: unknown, { accepted }: TextReference): Score {
  const said = typeof answer === 'string' ? comparable(answer) : ''
  return said === '' ? invalidAnswer : matched(accepted.some((text) => comparable(text) === said))
}

/** Composed letters, one case, words one space apart. Going through upper case turns ß into ss, as full case folding does. */
export function comparable(text: string): string {
  return pythonStrip(text).normalize('NFC').toUpperCase().toLowerCase().replace(/\s+/g, ' ')
}

/** The trimmed answer; undefined if the contract does not allow it. */
function textOf(answer: unknown, contract: AnswerContract): string | undefined {
  if (typeof answer !== 'string' || contract.check(answer).verdict !== 'fits') return undefined
  return pythonStrip(answer)
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
