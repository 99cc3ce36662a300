import { type AnswerContract, contractKinds } from '../library/answer-contract.ts'
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
    return likelyContract(task)
  }
}

/**
 * The same from the contracts' names, as a run's record keeps them, without its task set. A contract that a user's code
 * defines is not in the record.
 */
export function recordedContract(names: readonly string[], task: Task): AnswerContract {
  if (names.length !== 1) return likelyContract(task)
  const known = Object.values(contractKinds).find(({ name }) => name === names[0])
  if (known !== undefined) return known
  throw new TaskSetError(
    `The run's answers have the form '${names[0]}', which its folder does not define. Name another with --contract, or give \`contract\` in code.`,
  )
}

function likelyContract(task: Task): AnswerContract {
  if (task.options !== undefined && task.options.length > 0) return contractKinds.option
  if (task.program !== undefined) return contractKinds.code
  const isClaim = (task.tables ?? []).length > 0 && !task.question.includes('?')
  return isClaim ? contractKinds.boolean : contractKinds.number
}
