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
import type { Option, ProgramInterface } from '../../library/task.ts'

const contracts = {
  label: optionLabel,
  boolean: booleanString,
  number: numericString,
  program: codeString,
  'values-and-scale': valuesAndScale,
  text: freeText,
} as const satisfies Record<string, AnswerContract>

/** The form of an answer. `data` is JSON other than a string, of a user's own contract. */
export type AnswerForm = keyof typeof contracts | 'data'

/** The parts of a task that shape its answer. */
interface Offer {
  readonly options?: readonly Option[]
  readonly program?: ProgramInterface | undefined
}

/** The form of a known right answer. */
export function formOfAnswer(answer: JsonValue, { options = [], program }: Offer): AnswerForm {
  if (typeof answer !== 'string') return isValuesAndScale(answer) ? 'values-and-scale' : 'data'
  if (program !== undefined) return 'program'
  const said = answer.trim()
  if (options.some(({ label }) => label.toUpperCase() === said.toUpperCase())) return 'label'
  if (/^(?:true|false)$/i.test(said)) return 'boolean'
  return Number.isFinite(numericValue(said)) ? 'number' : 'text'
}

/** Whether another node's answer may be adopted. The contract of `data` is unknown here. */
export function fitsForm(answer: JsonValue, form: AnswerForm): boolean {
  if (form === 'data') return answer !== null
  const { types, check } = contracts[form]
  return types.includes(jsonTypeOf(answer)) && check(answer).verdict === 'fits'
}

/** The form required by a text, as far as it can be recognised. */
export function formOfRequirement(requirement: string, offer: Offer): AnswerForm {
  const { text: _, ...telling } = contracts
  for (const [form, contract] of Object.entries(telling))
    if (requirement.includes(contract.requirement)) return form as AnswerForm
  const example = exampleIn(requirement)
  if (example !== undefined && typeof example !== 'string') return formOfAnswer(example, offer)
  const words = requirement.slice(0, 4000).toLowerCase()
  if (words.includes('"values"') && words.includes('"scale"')) return 'values-and-scale'
  if (/source code|program/.test(words) || offer.program !== undefined) return 'program'
  if (offer.options !== undefined && offer.options.length > 0) return 'label'
  if (words.includes('true') && words.includes('false')) return 'boolean'
  return /\bnumber|numeric|integer\b/.test(words) ? 'number' : 'text'
}

/** The JSON example at the end of a requirement, if there is one. */
export function exampleIn(requirement: string): JsonValue | undefined {
  const [, ...after] = requirement.split('for example: ')
  try {
    return plain(JSON.parse(after.at(-1) ?? ''))
  } catch {
    return undefined
  }
}

/** Equal for equivalent answers. */
export function answerKey(answer: JsonValue, form: AnswerForm): string {
  if (typeof answer !== 'string') return canonicalJson(answer)
  const said = answer.trim()
  if (form === 'program') return said
  if (form !== 'number') return said.toLowerCase().replace(/\s+/g, ' ')
  const value = numericValue(said)
  return Number.isFinite(value) ? String(value) : said
}

/** The value of a numeric string, or NaN. */
export function numericValue(text: string): number {
  return /^-?[\d.,]+$/.test(text) && /\d/.test(text) ? Number(text.replaceAll(',', '')) : Number.NaN
}

export function isValuesAndScale(
  answer: JsonValue,
): answer is JsonObject & { values: readonly string[]; scale: string } {
  return fitsForm(answer, 'values-and-scale')
}
