import { deriveRandom } from '../../numerics/random.ts'
import type { AnswerForm } from './answer-form.ts'

/** What a question takes. Roles and tools suit some kinds and not others. */
export const questionKinds = [
  'knowledge',
  'commonsense',
  'math',
  'code',
  'table-arithmetic',
  'table-claim',
] as const

export type QuestionKind = (typeof questionKinds)[number]

/** What there is to see of a question, in a task as in a request. */
export interface QuestionView {
  readonly question: string
  readonly options: readonly { readonly label: string; readonly text: string }[]
  readonly hasTables: boolean
  readonly hasProgram: boolean
}

/** The kind by what the question brings along and what its answer looks like. */
export function kindOf(view: QuestionView, form: AnswerForm): QuestionKind {
  if (view.hasProgram || form === 'program') return 'code'
  if (view.hasTables) return form === 'boolean' ? 'table-claim' : 'table-arithmetic'
  if (form === 'boolean') return 'commonsense'
  if (form === 'number') return 'math'
  if (view.options.length === 0) return 'knowledge'
  const numeric = view.options.filter(({ text }) => /\d/.test(text)).length
  return numeric * 2 > view.options.length && numbersIn(view.question).length > 0 ? 'math' : 'knowledge'
}

/** From -1 (easy) to 1 (hard): a hash of the id, so that no text and no policy can know it. */
export function hardnessOf(taskId: string): number {
  return 2 * deriveRandom('hardness', taskId).uniform() - 1
}

/** The first few numbers of a text, as it writes them but without thousands separators. */
export function numbersIn(text: string): readonly number[] {
  const found = text.slice(0, 4000).match(/\d{1,12}(?:,\d{3})*(?:\.\d{1,6})?/g) ?? []
  return found.slice(0, 8).map((digits) => Number(digits.replaceAll(',', '')))
}
