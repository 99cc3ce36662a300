import { type AnswerContract, contractKinds } from '../library/answer-contract.ts'
import type { Task } from '../library/task.ts'
import { type TaskSet, TaskSetError } from './task-set.ts'

/**
 * The form of an answer to a user's question: the one that the task set asks for. The synthetic set decides by a field that
 * such a question lacks. Then the answer is an option if there are options, code if there is a program, true or false for
 * a statement about a table, and otherwise a number.
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
 * The same from the contracts' names, which is all that a run's record keeps of them: it cannot restore a contract that a
 * user's code defines.
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
