import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { splitOf, type TaskSet } from '../tasks/task-set.ts'
import type { EvaluationHeader } from './evaluate.ts'
import { organisationReport, type QuestionRecord } from './organisation-report.ts'

/** Makes the report of a stored evaluation again from its records, and throws where the stored one says something else. */
export function verifyReport(
  folder: string,
  header: EvaluationHeader,
  records: readonly QuestionRecord[],
  set: TaskSet,
): void {
  const path = join(folder, 'report.json')
  if (!existsSync(path) || records.length === 0) return
  const stored = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  const { organisation, description, split, tasks: total } = header
  const byTask = new Map(records.map((record) => [record.task, record]))
  const report = organisationReport({
    organisation: { name: organisation, description },
    split,
    total,
    // Sums of decimal fractions depend on the order.
    records: splitOf(set, split).tasks.flatMap(({ id }) => byTask.get(id) ?? []),
  })
  const again = JSON.parse(JSON.stringify(report)) as Record<string, unknown>
  // An earlier version's report may lack a field.
  for (const [field, value] of Object.entries(stored))
    if (field in again && !isDeepStrictEqual(again[field], value))
      throw new Error(`report.json says '${field}' otherwise than its records do`)
}
