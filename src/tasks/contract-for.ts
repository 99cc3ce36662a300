import {
  type AnswerContract,
  booleanString,
  codeString,
  numericString,
  optionLabel,
} from '../library/answer-contract.ts'
import type { Task } from '../library/task.ts'
import { type TaskSet, TaskSetError } from './task-set.ts'

/**
 * What an answer to a question from outside must look like: what the task set asks of such a task. The synthetic set goes by
 * its families, which no question from outside has; then options ask for one of them, a program for code, a table for a
 * verdict where the question is no question, and all else for a number.
 */
export function contractFor(set: TaskSet, task: Task): AnswerContract {
  try {
    return set.contractOf(task)
  } catch (error) {
    if (!(error instanceof TaskSetError)) throw error
    if (task.options !== undefined && task.options.length > 0) return optionLabel
    if (task.program !== undefined) return codeString
    const isClaim = (task.tables ?? []).length > 0 && !task.question.includes('?')
    return isClaim ? booleanString : numericString
  }
}
