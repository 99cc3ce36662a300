import { createHash } from 'node:crypto'
import type { Task } from '../library/task.ts'

/** A digest of one example, task and reference: a stored result is reused only while both are unchanged. */
export function dataVersion(task: Task, reference: unknown): string {
  return createHash('sha256')
    .update(canonical([task, reference ?? null]))
    .digest('hex')
}

/** JSON whose object keys are sorted, so that the same content has the same text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  )
}
