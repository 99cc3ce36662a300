import { Problem } from '../../problem.ts'
import type { RunRecord } from '../../store/run-folder.ts'
import type { TaskSet } from '../../tasks/task-set.ts'
import { openTasks, type TaskSource } from './task-options.ts'

/** Looking at a run must not run code that its record names: questions from a configuration are left out. */
export async function tasksToShow({ source }: RunRecord): Promise<TaskSet> {
  const tasks = source?.['tasks'] as TaskSource | undefined
  if (tasks === undefined)
    throw new Problem('The run was begun from code: its folder does not tell where its questions are.')
  if (tasks.config !== undefined)
    throw new Problem(
      'The questions come from a configuration file, which is a program: looking at a run does not start it.',
    )
  return (await openTasks(tasks)).set
}
