import { taskView } from '../execution/task-text.ts'
import { taskEmbedding } from '../library/encoder/task-embedding.ts'
import type { FrozenTextEncoder } from '../library/encoder/text-encoder.ts'
import type { Task } from '../library/task.ts'
import { compareTools } from '../library/tool-name.ts'
import type { TaskSet } from '../tasks/task-set.ts'

/** What the policy reads of a task, in training and in use: the question with its options, the public context, and the profile. */
export function queryEmbedding(
  task: Task,
  set: Pick<TaskSet, 'name' | 'library' | 'profile'>,
  encoder: FrozenTextEncoder,
): Promise<Float32Array> {
  return taskEmbedding(
    {
      question: task.question,
      options: task.options?.map(({ label, text }) => `${label}. ${text}`),
      context: contextText(task),
      metadata: profileText(set),
    },
    encoder,
  )
}

/** Passages and tables, as the executors see them. */
function contextText(task: Task): string {
  const { context, tables } = taskView(task)
  const passages = (context ?? []) as readonly string[]
  return [...passages, (tables ?? '') as string].filter((text) => text !== '').join('\n\n')
}

/** Data set, roles and tools. The order in which a profile names them does not matter. */
function profileText({ name, library, profile }: Pick<TaskSet, 'name' | 'library' | 'profile'>): string {
  const roles = library.roles.map(({ id }) => id)
  const tools = [...profile.tools].sort(compareTools)
  return [
    `data set: ${name}`,
    `roles: ${roles.join(', ')}`,
    ...(tools.length === 0 ? [] : [`tools: ${tools.join(', ')}`]),
  ].join('\n')
}
