import { Problem } from '../problem.ts'
import type { FrozenTextEncoder } from './text-encoder.ts'
import { unitVectorOfSum } from './unit-vector.ts'

/**
 * What the policy reads of a task. Answer-format instructions are not part of it: they go to the executors
 * only.
 */
export interface TaskFields {
  readonly question: string
  readonly options?: readonly string[]
  readonly context?: string
  /** Data set, roles and tools of the profile. */
  readonly metadata?: string
}

const weights = { question: 0.5, context: 0.4, metadata: 0.1 } as const

/**
 * q = Normalize(0.5 e_question + 0.4 e_context + 0.1 e_metadata); a missing or blank field is left out of the
 * sum.
 */
export async function taskEmbedding(fields: TaskFields, encoder: FrozenTextEncoder): Promise<Float32Array> {
  const present = [
    { weight: weights.question, text: [fields.question, ...(fields.options ?? [])].join('\n') },
    { weight: weights.context, text: fields.context ?? '' },
    { weight: weights.metadata, text: fields.metadata ?? '' },
  ].filter(({ text }) => text.trim() !== '')
  if (present.length === 0)
    throw new Problem(
      'The task has neither question, options, context nor metadata: there is nothing to embed.',
    )
  const vectors = await encoder.encode(present.map(({ text }) => text))
  return unitVectorOfSum(present.map(({ weight }, index) => ({ weight, vector: vectors[index]! })))
}
