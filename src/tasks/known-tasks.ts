import type { KnownTask } from '../execution/models/simulated/known-task.ts'
import { splitOf, type TaskSet } from './task-set.ts'

/** What the simulated model is given at the start: the tasks of these splits whose answers are known. */
export function knownTasks(set: TaskSet, splits: readonly string[] = Object.keys(set.splits)): KnownTask[] {
  return splits.flatMap((name) => {
    const { tasks, references } = splitOf(set, name)
    return tasks.flatMap((task) => {
      const solution = set.scorer.solution?.(references.get(task.id))
      return solution === undefined ? [] : [{ task, ...solution }]
    })
  })
}
