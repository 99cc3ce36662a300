import { createHash } from 'node:crypto'
import { canonicalJson } from '../library/json-value.ts'
import type { Task } from '../library/task.ts'

/** A digest of one example, task and reference: a stored result is reused only while both are unchanged. */
export function dataVersion(task: Task, reference: unknown): string {
  return createHash('sha256')
    .update(canonicalJson([task, reference ?? null]))
    .digest('hex')
}
