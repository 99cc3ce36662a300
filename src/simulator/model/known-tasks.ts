import { splitOf, type TaskSet } from '../../tasks/task-set.ts'
import type { KnownTask } from './known-task.ts'

/** What the simulated model is told at its start: the tasks of these splits with their answers, as far as there are any. */
export function knownTasks(set: TaskSet, splits: readonly string[] = Object.keys(set.splits)): KnownTask[] {
  return splits.flatMap((name) => {
    const { tasks, references } = splitOf(set, name)
    return tasks.flatMap((task) => {
      const solution = set.scorer.solution?.(references.get(task.id))
      return solution === undefined ? [] : [{ task, ...solution }]
    })
  })
}
