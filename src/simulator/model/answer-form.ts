import {
  type AnswerContract,
  booleanString,
  codeString,
  freeText,
  numericString,
  optionLabel,
  valuesAndScale,
} from '../../library/answer-contract.ts'
import {
  canonicalJson,
  type JsonObject,
  type JsonValue,
  jsonTypeOf,
  plain,
} from '../../library/json-value.ts'
import type { QuestionView } from './question-kind.ts'

/** What an answer looks like. `data`: JSON that is no string, of a user's own contract. */
export type AnswerForm = 'label' | 'boolean' | 'number' | 'program' | 'values-and-scale' | 'text' | 'data'

/** The form of a right answer that is known. */
export function formOfAnswer(answer: JsonValue, { options, hasProgram }: QuestionView): AnswerForm {
  if (typeof answer !== 'string') return isValuesAndScale(answer) ? 'values-and-scale' : 'data'
  if (hasProgram) return 'program'
  const said = answer.trim()
  if (options.some(({ label }) => label.toUpperCase() === said.toUpperCase())) return 'label'
  if (/^(?:true|false)$/i.test(said)) return 'boolean'
  return Number.isFinite(numberOf(said)) ? 'number' : 'text'
}

const contracts: Readonly<Record<Exclude<AnswerForm, 'data'>, AnswerContract>> = {
  label: optionLabel,
  boolean: booleanString,
  number: numericString,
  program: codeString,
  'values-and-scale': valuesAndScale,
  text: freeText,
}

/** Whether an answer that somebody else gave may be adopted. Data has a contract of its own, unknown here. */
export function fitsForm(answer: JsonValue, form: AnswerForm): boolean {
  if (form === 'data') return answer !== null
  const { types, check } = contracts[form]
  return types.includes(jsonTypeOf(answer)) && check(answer).verdict === 'fits'
}

/** The form that a requirement in words asks for, as far as it can be recognised. */
export function formOfRequirement(requirement: string, view: QuestionView): AnswerForm {
  for (const [form, contract] of Object.entries(contracts) as [AnswerForm, AnswerContract][])
    if (form !== 'text' && requirement.includes(contract.requirement)) return form
  const example = exampleIn(requirement)
  if (example !== undefined && typeof example !== 'string') return formOfAnswer(example, view)
  const { options, hasProgram } = view
  const words = requirement.slice(0, 4000).toLowerCase()
  if (words.includes('"values"') && words.includes('"scale"')) return 'values-and-scale'
  if (words.includes('source code') || words.includes('program') || hasProgram) return 'program'
  if (options.length > 0) return 'label'
  if (words.includes('true') && words.includes('false')) return 'boolean'
  return /\bnumber|numeric|integer\b/.test(words) ? 'number' : 'text'
}

/** The example that a requirement ends with, if it gives one as JSON. */
export function exampleIn(requirement: string): JsonValue | undefined {
  const start = requirement.lastIndexOf(beforeExample)
  if (start === -1) return undefined
  try {
    return plain(JSON.parse(requirement.slice(start + beforeExample.length)))
  } catch {
    return undefined
  }
}

const beforeExample = 'for example: '

/** Equal for answers that say the same. */
export function answerKey(answer: JsonValue, form: AnswerForm): string {
  if (typeof answer !== 'string') return canonicalJson(answer)
  const said = answer.trim()
  if (form === 'program') return said
  if (form !== 'number') return said.toLowerCase().replace(/\s+/g, ' ')
  const value = numberOf(said)
  return Number.isFinite(value) ? String(value) : said
}

/** The number that a numeric string says, or NaN. */
export function numberOf(text: string): number {
  return /^-?[\d.,]+$/.test(text) && /\d/.test(text) ? Number(text.replaceAll(',', '')) : Number.NaN
}

export function isValuesAndScale(
  answer: JsonValue,
): answer is JsonObject & { values: readonly string[]; scale: string } {
  return fitsForm(answer, 'values-and-scale')
}
