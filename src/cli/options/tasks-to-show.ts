import { Problem } from '../../problem.ts'
import type { RunRecord } from '../../store/run-folder.ts'
import type { TaskSet } from '../../tasks/task-set.ts'
import { openTasks, type TaskSource } from './task-options.ts'

/** Opens a run's tasks for viewing. A configuration is code, and viewing a run must not execute it. */
export async function tasksToShow({ source }: RunRecord): Promise<TaskSet> {
  const tasks = source?.['tasks'] as TaskSource | undefined
  if (tasks === undefined)
    throw new Problem('The run was started from code, so its folder does not say where its questions are.')
  if (tasks.config !== undefined)
    throw new Problem(
      'The questions come from a configuration file. That is code, and viewing a run does not execute it.',
    )
  return (await openTasks(tasks)).set
}
