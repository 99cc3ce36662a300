import { isDeepStrictEqual } from 'node:util'
import { RunError, type RunRecord } from './run-folder.ts'

/** What a resume may change: it has no part in the weights. */
const free = new Set<keyof RunRecord>([
  'createdAt',
  'version',
  'source',
  'budget',
  'concurrency',
  'execution',
  'name',
  'updates',
])

/** Refuses to go on with anything that would lead to other weights than the run was begun for. */
export function assertSameRun(begun: RunRecord, now: RunRecord): void {
  const differences = (Object.keys(begun) as (keyof RunRecord)[]).flatMap((field) =>
    free.has(field) ? [] : differencesOf(field, begun[field], now[field]),
  )
  if (differences.length === 0) return
  throw new RunError(
    `The run ${begun.name} cannot be resumed with what there is now:\n${differences.map((line) => `  ${line}`).join('\n')}\nPut back what has changed, or begin a new run.`,
  )
}

function differencesOf(field: string, begun: unknown, now: unknown): string[] {
  if (isDeepStrictEqual(begun, now)) return []
  if (isRecord(begun) && isRecord(now))
    return [...new Set([...Object.keys(begun), ...Object.keys(now)])].flatMap((key) =>
      differencesOf(`${field}.${key}`, begun[key], now[key]),
    )
  return [`${field} was ${JSON.stringify(begun)} and is ${JSON.stringify(now)}`]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
