import type { Table, Task } from '../../library/task.ts'
import type { Reference } from '../../tasks/scoring/reference.ts'
import type { Solution } from '../../tasks/task-set.ts'
import type { Dice } from './dice.ts'

/** A question before it is numbered: a task without id and metadata, with its right and wrong answers. */
export interface SyntheticQuestion {
  readonly task: Omit<Task, 'id' | 'metadata'>
  readonly reference: Reference
  readonly solution: Solution
}

/** Makes a question of one shape, or undefined for an unlucky draw (a tie, an uneven sum). */
export type QuestionMaker = (dice: Dice) => SyntheticQuestion | undefined

/** A calculation in words, its result, and the results of likely slips, the likeliest first. */
export type Calculation = readonly [text: string, answer: number, ...slips: number[]]

/** A question with an integer answer. Undefined if the text contains the answer, which could then be copied. */
export function numberQuestion(
  [question, answer, ...slips]: Calculation,
  tables?: readonly Table[],
): SyntheticQuestion | undefined {
  const task = tables === undefined ? { question } : { question, tables }
  if (!isPlain(answer) || writtenNumbers(task).has(answer)) return undefined
  const wrong = [...new Set(slips)].filter((slip) => isPlain(slip) && slip !== answer)
  return {
    task,
    reference: { kind: 'number-text', text: String(answer) },
    solution: { answer: String(answer), wrong: wrong.slice(0, 4).map(String) },
  }
}

function isPlain(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0
}

function writtenNumbers({ question, tables = [] }: SyntheticQuestion['task']): Set<number> {
  const cells = tables.flatMap(({ rows }) => rows.flat())
  return new Set([question, ...cells].flatMap((text) => (text.match(/\d+/g) ?? []).map(Number)))
}
