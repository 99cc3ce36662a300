// Draws from a pool: the paper's, and our own if its files are missing. Each describes itself in words.
import {
  d1Selection,
  q1Partition,
  q1Sample,
  q2GroupedPartition,
  q2Partition,
  q3Selection,
  tableOf,
} from './memberships.ts'
import type { Pool } from './pool.ts'
import type { Chosen, Draw, Parts } from './study.ts'

type BothParts = Parts & Required<Pick<Parts, 'train' | 'test'>>

export function whole(pool: Pool): Chosen {
  return { positions: range(pool.size), recipe: `all ${pool.size} of ${pool.name}` }
}

/** The whole pool if it has no more than `count` examples. */
export function sampled(pool: Pool, count: number, seed: number): Chosen {
  if (pool.size <= count) return whole(pool)
  return {
    positions: q1Sample(pool.size, count, seed).sorted,
    recipe: `Random(${seed}).sample(range(${pool.size}), ${count}) over ${pool.name}, sorted by position`,
  }
}

/** Q1 on MMLU-Pro and StrategyQA. */
export function q1Parts(pool: Pool, seed: number): BothParts {
  const { evaluation, training } = q1Partition(pool.size, { seed })
  const drawn = `Random(${seed}).sample(range(${pool.size}), 600) over ${pool.name}, sorted by position`
  return {
    test: { positions: evaluation, recipe: `${drawn}: the first 500` },
    train: { positions: training, recipe: `${drawn}: the last 100` },
  }
}

/** Not in the paper: training takes at most half of the only available pool, evaluation the rest. */
export function sharedParts(
  pool: Pool,
  { training, evaluation = pool.size }: { training: number; evaluation?: number },
  seed: number,
): Parts {
  const train = sampled(pool, Math.min(training, Math.floor(pool.size / 2)), seed)
  const taken = new Set(train.positions)
  const rest = range(pool.size).filter((position) => !taken.has(position))
  const others = `the ${rest.length} of ${pool.name} that are not trained on`
  if (rest.length <= evaluation) return { train, test: { positions: rest, recipe: others } }
  const { sorted } = q1Sample(rest.length, evaluation, seed)
  return {
    train,
    test: {
      positions: sorted.map((index) => rest[index]!),
      recipe: `Random(${seed}).sample(range(${rest.length}), ${evaluation}) over ${others}, sorted by position`,
    },
  }
}

/** Q2 on MMLU-Pro. */
export function q2Parts(pool: Pool, seed: number): BothParts {
  const { evaluation, training } = q2Partition(pool.size, { seed })
  const shuffled = `${pool.name} shuffled by Random(${seed})`
  return {
    test: { positions: evaluation, recipe: `${shuffled}: the first 100, in that order` },
    train: { positions: training, recipe: `${shuffled}: the next 100, in that order` },
  }
}

/** Q2 on TAT-QA. */
export async function q2TableParts(pool: Pool, seed: number): Promise<BothParts> {
  const ids = await pool.ids()
  const { evaluation, training } = q2GroupedPartition(ids, { seed })
  const shuffled = `${pool.name} by tables, tables in order of first occurrence shuffled by Random(${seed})`
  const positions = positionsIn(ids)
  return {
    test: { positions: positions(evaluation.ids), recipe: `${shuffled}: whole tables until there are 100` },
    train: { positions: positions(training.ids), recipe: `${shuffled}: the next tables until there are 100` },
    discarded: [...evaluation.discarded, ...training.discarded],
  }
}

/** Q3 trains on Q2's training examples and evaluates on examples Q2 did not use. */
function q3From(q2: (pool: Pool, seed: number) => BothParts | Promise<BothParts>, unit: string): Draw {
  // On TAT-QA, this excludes every table Q2 touched, even if it did not use all its questions.
  const groupOf = unit === 'tables' ? tableOf : (id: string) => id
  return async (pool, seed) => {
    const [ids, parts] = [await pool.ids(), await q2(pool, seed)]
    const used = new Set([...parts.train.positions, ...parts.test.positions].map((at) => groupOf(ids[at]!)))
    const selected = q3Selection(ids, (id) => used.has(groupOf(id)), { seed })
    const recipe = `${pool.name} without the ${unit} of Q2, ids sorted, shuffled by Random(${seed}): the first 200`
    return { ...parts, test: { positions: positionsIn(ids)(selected), recipe } }
  }
}

export const q3Parts = q3From(q2Parts, 'examples')
export const q3TableParts = q3From(q2TableParts, 'tables')

/** D1: nothing is trained on. */
export async function d1Parts(pool: Pool, seed: number): Promise<Parts> {
  const ids = await pool.ids()
  return {
    test: {
      positions: positionsIn(ids)(d1Selection(ids, { seed })),
      recipe: `the 200 of ${pool.name} with the smallest SHA-256 of d1-v1, NUL, ${seed}, NUL, example id`,
    },
  }
}

/** D3 trains on what is usually held out; nothing is evaluated. */
export function d3Parts(pool: Pool, seed: number): Parts {
  return { train: sampled(pool, 30, seed) }
}

function positionsIn(ids: readonly string[]): (chosen: readonly string[]) => readonly number[] {
  const positions = new Map(ids.map((id, position) => [id, position]))
  return (chosen) => chosen.map((id) => positions.get(id)!)
}

function range(size: number): readonly number[] {
  return Array.from({ length: size }, (_, position) => position)
}
