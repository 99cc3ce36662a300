import type { JsonObject, JsonValue } from '../../library/json-value.ts'
import type { Task } from '../../library/task.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { type AnswerForm, answerKey, isValuesAndScale, numericValue } from './answer-form.ts'
import { brokenPrograms } from './broken-program.ts'
import { constants } from './constants.ts'
import { numbersIn } from './question-kind.ts'

/**
 * Wrong answers to a known question, the most tempting first: few, so that wrong nodes tend to agree. Given ones come
 * first; the rest is derived from the task and the right answer.
 */
export function wrongAnswers(
  task: Task,
  answer: JsonValue,
  form: AnswerForm,
  given: readonly JsonValue[] = [],
): readonly JsonValue[] {
  const chosen = new Map([[answerKey(answer, form), answer]])
  for (const candidate of [...given, ...madeUp(task, answer, form)]) {
    const key = answerKey(candidate, form)
    if (chosen.size <= constants.temptation.length && !chosen.has(key)) chosen.set(key, candidate)
  }
  return [...chosen.values()].slice(1)
}

function madeUp(task: Task, answer: JsonValue, form: AnswerForm): readonly JsonValue[] {
  const shuffled = <T>(items: readonly T[]): T[] => inHashOrder(items, task.id)
  switch (form) {
    case 'label':
      return shuffled((task.options ?? []).map(({ label }) => label))
    case 'boolean':
      return [/^true$/i.test((answer as string).trim()) ? 'false' : 'true']
    case 'number':
      return shuffled(wrongNumbers(answer as string, task.question))
    case 'program':
      return brokenPrograms(answer as string, task.program)
    case 'values-and-scale':
      return isValuesAndScale(answer) ? wrongValues(answer, task, shuffled) : []
    case 'text':
      return [...shuffled(wrongTexts(task)), 'unknown', 'none']
    case 'data':
      return [alteredData(answer)]
  }
}

/** Typical slips: one step too many or too few, a number left out or used twice, a wrong power of ten. */
function wrongNumbers(answer: string, question: string): string[] {
  const right = numericValue(answer.trim())
  const digits = answer.includes('.') ? answer.trim().split('.')[1].length : 0
  const near = numbersIn(question).filter((number) => number !== 0)
  const candidates = [right * 2, right / 2, right + 1, right - 1, right * 10, right / 10]
  for (const number of near.slice(0, 4)) candidates.push(right + number, right - number)
  return candidates
    .filter((value) => Number.isFinite(value) && (right < 0 || value >= 0))
    .map((value) => value.toFixed(Math.min(digits, 6)))
    .filter((text) => !text.includes('e'))
}

function wrongValues(
  { values, scale }: { values: readonly string[]; scale: string },
  task: Task,
  shuffled: <T>(items: readonly T[]) => T[],
): JsonObject[] {
  const [first = '', ...rest] = values
  const otherScale = scale === 'million' ? 'thousand' : scale === '' ? 'million' : ''
  if (rest.length === 0 && Number.isFinite(numericValue(first.trim()))) {
    const [one, two] = shuffled(wrongNumbers(first, task.question))
    return [
      { values: [one ?? '0'], scale },
      { values: [first], scale: otherScale },
      { values: [two ?? '1'], scale },
    ]
  }
  const [cell = '', other = ''] = shuffled(wrongTexts(task).filter((text) => !values.includes(text)))
  const candidates = [
    cell === '' ? [] : [cell, ...rest],
    values.slice(0, -1),
    other === '' ? [] : [...values, other],
  ]
  const wrong = candidates.filter((list) => list.length > 0).map((list) => ({ values: list, scale }))
  return [...wrong, { values, scale: otherScale }]
}

/** Other things mentioned in the task: cells of its tables, options, names in its texts. */
function wrongTexts({ question, options = [], context = [], tables = [] }: Task): string[] {
  const cells = tables.flatMap(({ rows }) => rows.slice(0, 40).flat()).filter((cell) => cell.trim() !== '')
  const text = [question, ...context].join(' ').slice(0, 8000)
  const names = text.match(/\b[A-Z][a-z]{2,20}(?: [A-Z][a-z]{2,20}){0,2}\b/g) ?? []
  return [...options.map((option) => option.text), ...cells.slice(0, 60), ...names.slice(0, 40)]
}

/** The same shape, with a different value at the first place that has one. */
function alteredData(answer: JsonValue): JsonValue {
  if (typeof answer === 'number') return answer + 1
  if (typeof answer === 'boolean') return !answer
  if (typeof answer === 'string') return answer === 'unknown' ? 'none' : 'unknown'
  if (answer === null) return false
  if (Array.isArray(answer)) return answer.length === 0 ? [] : [alteredData(answer[0]), ...answer.slice(1)]
  const [first, ...others] = Object.entries(answer as JsonObject)
  return first === undefined ? {} : Object.fromEntries([[first[0], alteredData(first[1])], ...others])
}

function inHashOrder<T>(items: readonly T[], id: string): T[] {
  const keyed = items.map((item, index) => ({ item, rank: deriveRandom('tempting', id, index).uniform() }))
  return keyed.sort((a, b) => a.rank - b.rank).map(({ item }) => item)
}
