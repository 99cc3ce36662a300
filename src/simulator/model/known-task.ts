import type { JsonValue } from '../../library/json-value.ts'
import type { Task } from '../../library/task.ts'
import { splitOf, type TaskSet } from '../../tasks/task-set.ts'
import type { QuestionKind } from './question-kind.ts'

/** A task with its answer, for the simulated model. */
export interface KnownTask {
  readonly task: Task
  /** The right answer in the form the contract requires; for code, a program that passes. */
  readonly answer: JsonValue
  /** Wrong answers in the same form, the most tempting first. Made up if not given. */
  readonly wrong?: readonly JsonValue[]
  /** The kind of question, if task and answer do not show it. */
  readonly kind?: QuestionKind
}

/** The tasks of these splits whose answers are known. */
export function knownTasks(set: TaskSet, splits: readonly string[] = Object.keys(set.splits)): KnownTask[] {
  return splits.flatMap((name) => {
    const { tasks, references } = splitOf(set, name)
    return tasks.flatMap((task) => {
      const solution = set.scorer.solution?.(references.get(task.id))
      return solution === undefined ? [] : [{ task, ...solution }]
    })
  })
}
