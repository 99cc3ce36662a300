// Which examples a study trains and evaluates on, as defined in the paper's appendices C and D. Every draw uses a
// fresh `random.Random(seed)` of Python.
import { hash } from 'node:crypto'
import { compareCodePoints } from '../../python/code-point-order.ts'
import { PythonRandom } from '../../python/random.ts'

/** The paper's seeds: 42 for the main table (Q1, Q4) and D1, 23 for the ablations (Q2) and the comparison (Q3). */
export const mainSeed = 42
export const ablationSeed = 23

type Seed = number | bigint
interface Sizes {
  readonly evaluation?: number
  readonly training?: number
  readonly seed?: Seed
}

/** Q1: positions of `count` examples without replacement, in the order drawn and sorted as a study uses them. */
export function q1Sample(poolSize: number, count: number, seed: Seed = mainSeed) {
  const order: readonly number[] = new PythonRandom(seed).sample(poolSize, count)
  return { order, sorted: order.toSorted((a, b) => a - b) }
}

/** Q1 on MMLU-Pro and StrategyQA: one draw, sorted; the first part is for evaluation, the last for training. */
export function q1Partition(poolSize: number, { evaluation = 500, training = 100, seed }: Sizes = {}) {
  const { sorted } = q1Sample(poolSize, evaluation + training, seed)
  return { evaluation: sorted.slice(0, evaluation), training: sorted.slice(evaluation) }
}

/** Q2 on MMLU-Pro: the shuffled pool, first for evaluation, then for training; both in shuffled order. */
export function q2Partition(
  poolSize: number,
  { evaluation = 100, training = 100, seed = ablationSeed }: Sizes = {},
) {
  const shuffled = new PythonRandom(seed).shuffle(Array.from({ length: poolSize }, (_, position) => position))
  return {
    evaluation: shuffled.slice(0, evaluation),
    training: shuffled.slice(evaluation, evaluation + training),
  }
}

/** TAT-QA: the table's uid, the part of an example id before the colon. */
export function tableOf(id: string): string {
  return id.split(':', 1)[0]!
}

/** Q2 on TAT-QA: tables in order of first occurrence, shuffled; their questions keep their order. */
export function q2GroupedPartition(
  ids: readonly string[],
  { evaluation = 100, training = 100, seed = ablationSeed }: Sizes = {},
) {
  const groups = Map.groupBy(ids, tableOf)
  const groupOrder = new PythonRandom(seed).shuffle([...groups.keys()])
  let next = 0
  // Whole groups in order. The rest of the last one is discarded, so that no table is on both sides.
  const take = (count: number) => {
    const start = next
    const taken: string[] = []
    while (taken.length < count) {
      const group = groupOrder[next]
      if (group === undefined) throw new RangeError(`The pool has too few groups for ${count} more examples.`)
      for (const id of groups.get(group)!) taken.push(id)
      next += 1
    }
    return {
      ids: taken.slice(0, count),
      groups: groupOrder.slice(start, next),
      discarded: taken.slice(count),
    }
  }
  return { groupOrder, evaluation: take(evaluation), training: take(training) }
}

/** Q3: the examples Q2 did not use, sorted by id, then shuffled. */
export function q3Selection(
  ids: readonly string[],
  usedByQ2: (id: string) => boolean,
  { count = 200, seed = ablationSeed as Seed, compare = compareCodePoints } = {},
): readonly string[] {
  const remaining = ids.filter((id) => !usedByQ2(id)).sort(compare)
  return new PythonRandom(seed).shuffle(remaining).slice(0, count)
}

/** D1: the examples with the smallest digests, independent of file order. */
export function d1Selection(
  ids: readonly string[],
  { count = 200, seed = mainSeed as Seed } = {},
): readonly string[] {
  return ids
    .map((id) => ({ id, digest: d1Digest(id, seed) }))
    .sort((a, b) => (a.digest < b.digest ? -1 : a.digest > b.digest ? 1 : 0))
    .slice(0, count)
    .map(({ id }) => id)
}

/** Hexadecimal digits sort as the digest's bytes do. */
export function d1Digest(id: string, seed: Seed = mainSeed): string {
  return hash('sha256', `d1-v1\0${seed}\0${id}`, 'hex')
}
