import type { Task } from '../../library/task.ts'
import type { AnswerForm } from './answer-form.ts'
import { kindConstants } from './constants.ts'

/** The kind of a question. Roles and tools suit some kinds and not others. */
export type QuestionKind = keyof typeof kindConstants

export const questionKinds = Object.keys(kindConstants) as readonly QuestionKind[]

/** Derives the kind from what comes with the question and the form of its answer. */
export function kindOf(
  { question, options = [], tables = [], program }: Omit<Task, 'id' | 'metadata'>,
  form: AnswerForm,
): QuestionKind {
  if (program !== undefined || form === 'program') return 'code'
  if (tables.length > 0) return form === 'boolean' ? 'table-claim' : 'table-arithmetic'
  if (form === 'boolean') return 'commonsense'
  if (form === 'number') return 'math'
  const numeric = options.filter(({ text }) => /\d/.test(text)).length
  return numeric * 2 > options.length && numbersIn(question).length > 0 ? 'math' : 'knowledge'
}

/** The first few numbers of a text, without thousands separators. */
export function numbersIn(text: string): readonly number[] {
  const found = text.slice(0, 4000).match(/\d{1,12}(?:,\d{3})*(?:\.\d{1,6})?/g) ?? []
  return found.slice(0, 8).map((digits) => Number(digits.replaceAll(',', '')))
}
