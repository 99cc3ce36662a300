import type { JsonObject } from '../../library/json-value.ts'
import type { Task } from '../../library/task.ts'
import type { Reference } from '../benchmarks/reference.ts'
import type { Split } from '../benchmarks/split.ts'
import { TaskSetError, type TaskSplit } from '../task-set.ts'
import type { Parts } from './draws.ts'
import type { Pool } from './pool.ts'
import type { Draw } from './studies.ts'

type Part = 'train' | 'test'

/** At most so many of the selected, the first in order. */
export type PartLimits = Readonly<Partial<Record<Part, number | undefined>>>

/** What one draw took from its pool. */
export interface Taken {
  readonly pool: Pool
  readonly parts: Parts
  readonly ids: Readonly<Record<Part, readonly string[]>>
  readonly split: Split
}

export async function take(pool: Pool, draw: Draw, seed: number, limits: PartLimits): Promise<Taken> {
  const parts = await draw.parts(pool, seed)
  const train = parts.train?.positions.slice(0, limits.train) ?? []
  const test = parts.test?.positions.slice(0, limits.test) ?? []
  const split = await pool.read(new Set([...train, ...test]))
  const ids = {
    train: train.map((position) => split.ids[position]!),
    test: test.map((position) => split.ids[position]!),
  }
  return { pool, parts, ids, split }
}

/** The tasks of one part, in order, with their references. */
export function splitOfPart(taken: readonly Taken[], part: Part): TaskSplit<Reference> {
  const tasks: Task[] = []
  const references = new Map<string, Reference>()
  for (const { pool, ids, split } of taken) {
    const unusable = ids[part].filter((id) => !split.tasks.has(id) || !split.references.has(id))
    if (unusable.length > 0) throw new TaskSetError(whyUnusable(pool, split, unusable))
    for (const id of ids[part]) {
      tasks.push(split.tasks.get(id)!)
      references.set(id, split.references.get(id)!)
    }
  }
  return { tasks, references }
}

function whyUnusable({ name }: Pool, { references }: Split, ids: readonly string[]): string {
  const [first] = ids
  if (!references.has(first!)) return `${name} is published without answers: nothing in it can be scored.`
  return (
    `${ids.length} selected examples of ${name} have no table, '${first}' for one. ` +
    'Get all tables with `magic data pull tabfact` or `magic data import tabfact PATH`.'
  )
}

/** How the examples were chosen, for people and for `membership.json`. */
export function describeSelection(taken: readonly Taken[]): JsonObject {
  const discarded = taken.flatMap(({ parts }) => parts.discarded ?? [])
  return {
    pools: taken.map(({ pool, ids }) => ({
      pool: pool.name,
      examples: pool.size,
      leftAside: pool.size - ids.train.length - ids.test.length,
    })),
    ...describePart(taken, 'train'),
    ...describePart(taken, 'test'),
    ...(discarded.length === 0 ? {} : { discarded }),
  }
}

function describePart(taken: readonly Taken[], part: Part): JsonObject {
  const from = taken.find(({ parts }) => parts[part] !== undefined)
  if (from === undefined) return {}
  const { positions, recipe } = from.parts[part]!
  return { [part]: { recipe, selected: positions.length, used: from.ids[part].length } }
}
