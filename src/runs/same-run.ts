import { isDeepStrictEqual } from 'node:util'
import { type Membership, RunError, type RunRecord } from './run-folder.ts'
import { toolDifference } from './run-tools.ts'

/** What a resume may change: it has no part in the weights. */
const free = new Set<keyof RunRecord>([
  'createdAt',
  'version',
  'source',
  'budget',
  'concurrency',
  'execution',
  'name',
  // Compared apart, so that the error can say what to do.
  'tools',
  'updates',
])

/** Refuses to go on with anything that would lead to other weights than the run was begun for. */
export function assertSameRun(begun: RunRecord, now: RunRecord): void {
  if (begun.tools !== undefined && now.tools !== undefined) {
    const difference = toolDifference(begun.tools, now.tools)
    if (difference !== undefined) throw new RunError(`The run ${begun.name} ${difference}`)
  }
  const differences = (Object.keys(begun) as (keyof RunRecord)[]).flatMap((field) =>
    free.has(field) ? [] : differencesOf(field, begun[field], now[field]),
  )
  if (differences.length === 0) return
  throw new RunError(
    `The run ${begun.name} cannot be resumed with what there is now:\n${differences.map((line) => `  ${line}`).join('\n')}\nPut back what has changed, or begin a new run.`,
  )
}

/**
 * Refuses training questions in another order, which no digest of them tells: each update learns from the next one, so a
 * run would end with other weights.
 */
export function assertSameOrder({ splits }: Membership, now: readonly { readonly id: string }[]): void {
  const begun = splits['train'] ?? []
  const place = now.findIndex(({ id }, index) => id !== begun[index])
  if (place === -1 && begun.length === now.length) return
  throw new RunError(
    `The run cannot be resumed: its training questions stand in another order now. Question ${place + 1} was '${begun[place]}' and is '${now[place]?.id}'. Put them back in their order, or begin a new run.`,
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
