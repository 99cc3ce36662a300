import { queryEmbedding } from '../encoder/query-embedding.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { splitOf, splitVersion, type TaskSet } from '../tasks/task-set.ts'

/** The training questions as the policy sees them, in training order. */
export interface TrainingQuestions {
  readonly queries: readonly { readonly id: string; readonly embedding: ArrayLike<number> }[]
  /** A version of their content. */
  readonly dataVersion: string
}

export async function embedQuestions(set: TaskSet, encoder: FrozenTextEncoder): Promise<TrainingQuestions> {
  const queries: { id: string; embedding: Float32Array }[] = []
  for (const task of splitOf(set, 'train').tasks)
    queries.push({ id: task.id, embedding: await queryEmbedding(task, set, encoder) })
  return { queries, dataVersion: splitVersion(set, 'train') }
}
