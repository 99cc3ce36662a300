// Which examples a study trains and evaluates on, as the paper's appendices C and D define it. Every draw is one of
// Python's `random.Random(seed)`, from a fresh generator.
import { createHash } from 'node:crypto'
import { compareCodePoints } from '../../python/code-point-order.ts'
import { PythonRandom } from '../../python/random.ts'

/** The paper's seeds: 42 for the main table (Q1, Q4) and D1, 23 for the ablations (Q2) and the comparison (Q3). */
export const mainSeed = 42
export const ablationSeed = 23

interface Sample {
  /** Positions in the pool, in the order drawn. */
  readonly order: readonly number[]
  /** The same, sorted: the order in which a study uses them. */
  readonly sorted: readonly number[]
}

/** Q1: `count` examples of a pool, without replacement. */
export function q1Sample(poolSize: number, count: number, seed: number | bigint = mainSeed): Sample {
  const order = new PythonRandom(seed).sample(poolSize, count)
  return { order, sorted: [...order].sort((a, b) => a - b) }
}

/** Positions in a pool. */
interface Partition {
  readonly evaluation: readonly number[]
  readonly training: readonly number[]
}

/** Q1 on MMLU-Pro and StrategyQA: one draw, sorted; the first part is for evaluation, the last for training. */
export function q1Partition(
  poolSize: number,
  { evaluation = 500, training = 100, seed = mainSeed as number | bigint } = {},
): Partition {
  const { sorted } = q1Sample(poolSize, evaluation + training, seed)
  return { evaluation: sorted.slice(0, evaluation), training: sorted.slice(evaluation) }
}

/** Q2 on MMLU-Pro: the shuffled pool, first for evaluation, then for training; both in shuffled order. */
export function q2Partition(
  poolSize: number,
  { evaluation = 100, training = 100, seed = ablationSeed as number | bigint } = {},
): Partition {
  const positions = Array.from({ length: poolSize }, (_, position) => position)
  const shuffled = new PythonRandom(seed).shuffle(positions)
  return {
    evaluation: shuffled.slice(0, evaluation),
    training: shuffled.slice(evaluation, evaluation + training),
  }
}

/** Whole groups taken one after the other until there are enough examples. */
interface GroupedPart {
  readonly ids: readonly string[]
  readonly groups: readonly string[]
  /** The rest of the last group. It belongs to no part, so that no table is on both sides. */
  readonly discarded: readonly string[]
}

interface GroupedPartition {
  /** All groups, shuffled. */
  readonly groupOrder: readonly string[]
  readonly evaluation: GroupedPart
  readonly training: GroupedPart
}

/** TAT-QA: the table's uid, the part of an example id before the colon. */
export function tableOf(id: string): string {
  const colon = id.indexOf(':')
  return colon === -1 ? id : id.slice(0, colon)
}

/** Q2 on TAT-QA: groups in order of first occurrence, shuffled; their questions keep their order. */
export function q2GroupedPartition(
  ids: readonly string[],
  { evaluation = 100, training = 100, seed = ablationSeed as number | bigint, groupOf = tableOf } = {},
): GroupedPartition {
  const groups = Map.groupBy(ids, groupOf)
  const groupOrder = new PythonRandom(seed).shuffle([...groups.keys()])
  const forEvaluation = takeGroups(groups, groupOrder, 0, evaluation)
  const forTraining = takeGroups(groups, groupOrder, forEvaluation.groups.length, training)
  return { groupOrder, evaluation: forEvaluation, training: forTraining }
}

function takeGroups(
  groups: ReadonlyMap<string, readonly string[]>,
  groupOrder: readonly string[],
  start: number,
  count: number,
): GroupedPart {
  const taken: string[] = []
  let end = start
  while (taken.length < count) {
    const group = groupOrder[end]
    if (group === undefined) throw new RangeError(`The pool has too few groups for ${count} more examples.`)
    for (const id of groups.get(group)!) taken.push(id)
    end += 1
  }
  return { ids: taken.slice(0, count), groups: groupOrder.slice(start, end), discarded: taken.slice(count) }
}

/** Q3: what Q2 left over, its ids sorted as strings, then shuffled. */
export function q3Selection(
  ids: readonly string[],
  usedByQ2: (id: string) => boolean,
  { count = 200, seed = ablationSeed as number | bigint, compare = compareCodePoints } = {},
): readonly string[] {
  const remaining = ids.filter((id) => !usedByQ2(id)).sort(compare)
  return new PythonRandom(seed).shuffle(remaining).slice(0, count)
}

/** D1: the examples with the smallest digests, whatever the order of the file. */
export function d1Selection(
  ids: readonly string[],
  { count = 200, seed = mainSeed as number | bigint } = {},
): readonly string[] {
  return ids
    .map((id) => ({ id, digest: d1Digest(id, seed) }))
    .sort((a, b) => (a.digest < b.digest ? -1 : a.digest > b.digest ? 1 : 0))
    .slice(0, count)
    .map(({ id }) => id)
}

/** Hexadecimal digits sort as the digest's bytes do. */
export function d1Digest(id: string, seed: number | bigint = mainSeed): string {
  return createHash('sha256').update(`d1-v1\0${seed}\0${id}`).digest('hex')
}
