import type { Task } from '../library/task.ts'
import type { RunRecord } from '../store/run-folder.ts'
import type { TaskSet } from '../tasks/task-set.ts'
import type { FollowedRun } from './followed-run.ts'

export interface OpenedQuestion {
  readonly task: Task
  readonly split: string
  /** From the metadata of the task; absent if no field sorts the tasks into kinds. */
  readonly kind?: string
  /** An answer that scores 1, if one is known. */
  readonly expected?: unknown
}

export interface RunTasks {
  readonly questions: ReadonlyMap<string, OpenedQuestion>
  /** Why the run's questions cannot be shown. */
  readonly problem?: string
}

export type OpenTasks = (record: RunRecord) => Promise<TaskSet>

/** Opens the questions of each run once. */
export function runTasks(open: OpenTasks): (run: FollowedRun) => Promise<RunTasks> {
  const opened = new WeakMap<FollowedRun, Promise<RunTasks>>()
  return (run) => {
    const known = opened.get(run) ?? open(run.record).then(questionsOf, unavailable)
    opened.set(run, known)
    return known
  }
}

function unavailable(error: Error): RunTasks {
  return { questions: new Map(), problem: error.message }
}

function questionsOf({ splits, scorer }: TaskSet): RunTasks {
  const all = Object.entries(splits).flatMap(([split, { tasks, references }]) =>
    tasks.map((task) => ({ task, split, reference: references.get(task.id) })),
  )
  const field = kindField(all.map(({ task }) => task))
  return {
    questions: new Map(
      all.map(({ task, split, reference }) => [
        task.id,
        {
          task,
          split,
          kind: field && task.metadata[field],
          expected: scorer.solution?.(reference)?.answer,
        },
      ]),
    ),
  }
}

/** More kinds than this would not help a reader. */
const mostKinds = 24

/** The first metadata field that sorts the tasks into a few kinds. */
function kindField(tasks: readonly Task[]): string | undefined {
  const names = new Set(tasks.flatMap(({ metadata }) => Object.keys(metadata)))
  return [...names].find((name) => {
    const kinds = new Set(tasks.map(({ metadata }) => metadata[name]))
    return kinds.size >= 2 && kinds.size <= mostKinds
  })
}
