// The study subsets of memberships.json. An entry's name and fields give its recipe, the expected lists its sizes, and the named
// files its pool.
import { join } from 'node:path'
import { loadSplit } from '../src/tasks/benchmarks/benchmark.ts'
import { Examples } from '../src/tasks/benchmarks/examples.ts'
import { benchmarks } from '../src/tasks/benchmarks/list.ts'
import {
  ablationSeed,
  d1Digest,
  d1Selection,
  mainSeed,
  q1Partition,
  q1Sample,
  q2GroupedPartition,
  q2Partition,
  q3Selection,
  tableOf,
} from '../src/tasks/studies/memberships.ts'
import type { CaseResult } from './case.ts'
import { findData } from './data-folder.ts'
import { difference } from './difference.ts'

interface Entry {
  pool?: string
  n?: number
  seed?: number | bigint
  key?: string
  remaining?: number
  groups?: number
  [field: string]: unknown
}

/** What our recipe gives for an entry, by field. */
type Outcome = Record<string, unknown>

export async function* runMembershipCases(
  content: object,
  folder: string,
  file: string,
): AsyncGenerator<CaseResult> {
  const entries = content as Record<string, Entry>
  const dataFolder = findData(folder)
  for (const [name, entry] of Object.entries(entries)) {
    if (typeof entry !== 'object' || entry === null) continue
    const label = `${file} ${name}`
    try {
      const outcome = await outcomeOf(name, entry, entries, dataFolder)
      yield { name: label, ...failureOf(entry, outcome) }
    } catch (error) {
      yield { name: label, failure: error instanceof Error ? error.message : String(error) }
    }
  }
}

/** Fields that only describe the case; we must compute every other field. */
const prose = new Set(['pool', 'note', 'seed', 'key', 'excluded'])

function failureOf(entry: Entry, outcome: Outcome): { failure?: string } {
  let compared = 0
  for (const [field, expected] of Object.entries(entry)) {
    if (prose.has(field)) continue
    if (!Object.hasOwn(outcome, field)) return { failure: `nothing is computed for the field ${field}` }
    const failure = difference(expected, outcome[field], field)
    if (failure !== undefined) return { failure }
    compared += 1
  }
  return compared === 0 ? { failure: 'the entry expects nothing' } : {}
}

async function outcomeOf(
  name: string,
  entry: Entry,
  entries: Record<string, Entry>,
  data: string | undefined,
): Promise<Outcome> {
  if (name.includes('_d1')) return d1Outcome(name, entry, entries, data)
  if (name.includes('_q3')) return q3Outcome(name, entry, entries, data)
  const ids = await poolIds(entry, data)
  const poolSize = ids?.length ?? entry.n ?? 0
  const named = (positions: readonly number[]) =>
    ids === undefined ? undefined : positions.map((i) => ids[i]!)
  const sizes = { evaluation: sizeOf(entry, 'eval_'), training: sizeOf(entry, 'train_') }
  if (entry.groups !== undefined) {
    if (ids === undefined) throw new Error('the groups of this pool cannot be known without its file')
    const seed = entry.seed ?? ablationSeed
    return groupedOutcome(
      ids,
      { ...sizes, seed },
      (entry['group_order_first10'] as unknown[] | undefined)?.length ?? 0,
    )
  }
  if (sizes.evaluation > 0 && sizes.training > 0) {
    const partition = name.includes('_q2')
      ? q2Partition(poolSize, { ...sizes, seed: entry.seed ?? ablationSeed })
      : q1Partition(poolSize, { ...sizes, seed: entry.seed ?? mainSeed })
    return {
      n: poolSize,
      eval_indices: partition.evaluation,
      train_indices: partition.training,
      eval_ids: named(partition.evaluation),
      train_ids: named(partition.training),
    }
  }
  const { order, sorted } = q1Sample(poolSize, sizes.evaluation + sizes.training, entry.seed ?? mainSeed)
  const part = sizes.evaluation > 0 ? 'eval' : 'train'
  return { n: poolSize, sampled_order: order, [`${part}_indices`]: sorted, [`${part}_ids`]: named(sorted) }
}

function groupedOutcome(
  ids: readonly string[],
  options: { evaluation: number; training: number; seed: number | bigint },
  shown: number,
): Outcome {
  const { groupOrder, evaluation, training } = q2GroupedPartition(ids, options)
  const position = new Map(ids.map((id, index) => [id, index]))
  return {
    n: ids.length,
    groups: groupOrder.length,
    group_order_first10: groupOrder.slice(0, shown),
    eval_groups: evaluation.groups,
    train_groups: training.groups,
    eval_ids: evaluation.ids,
    train_ids: training.ids,
    eval_indices: evaluation.ids.map((id) => position.get(id)!),
    train_indices: training.ids.map((id) => position.get(id)!),
    discarded_ids: { eval: evaluation.discarded, train: training.discarded },
  }
}

async function q3Outcome(
  name: string,
  entry: Entry,
  entries: Record<string, Entry>,
  data: string | undefined,
): Promise<Outcome> {
  const ids = await poolIds(entry, data)
  if (ids === undefined) throw new Error('this pool cannot be known without its file')
  const q2 = entries[name.replace('_q3', '_q2')]
  const seed = entry.seed ?? ablationSeed
  const q2Options = {
    evaluation: q2 === undefined ? 100 : sizeOf(q2, 'eval_'),
    training: q2 === undefined ? 100 : sizeOf(q2, 'train_'),
    seed: q2?.seed ?? seed,
  }
  const used = usedByQ2(ids, q2Options, q2 === undefined ? name.startsWith('tatqa') : q2.groups !== undefined)
  const count = sizeOf(entry, 'eval_')
  return {
    n: ids.length,
    remaining: ids.filter((id) => !used(id)).length,
    eval_ids: q3Selection(ids, used, { count, seed }),
    eval_ids_if_sorted_as_numbers: q3Selection(ids, used, {
      count,
      seed,
      compare: (a, b) => Number(a) - Number(b),
    }),
  }
}

function usedByQ2(
  ids: readonly string[],
  options: { evaluation: number; training: number; seed: number | bigint },
  grouped: boolean,
): (id: string) => boolean {
  if (grouped) {
    const { evaluation, training } = q2GroupedPartition(ids, options)
    const touched = new Set([...evaluation.groups, ...training.groups])
    return (id) => touched.has(tableOf(id))
  }
  const { evaluation, training } = q2Partition(ids.length, options)
  const taken = new Set([...evaluation, ...training].map((position) => ids[position]!))
  return (id) => taken.has(id)
}

async function d1Outcome(
  name: string,
  entry: Entry,
  entries: Record<string, Entry>,
  data: string | undefined,
): Promise<Outcome> {
  const bare = name.endsWith('_if_example_id_is_the_question_uid')
  // A variant has the pool of the entry it varies.
  const original = entries[name.replace(/_if_.*$/, '')] ?? entry
  const ids = await poolIds(entry.pool === undefined ? original : entry, data)
  if (ids === undefined) throw new Error('this pool cannot be known without its file')
  const pool = bare ? ids.map((id) => id.slice(id.indexOf(':') + 1)) : ids
  const seed = entry.seed ?? seedOfKey(entry.key ?? original.key) ?? mainSeed
  const selected = d1Selection(pool, { count: (entry['ids'] as unknown[]).length, seed })
  const shown = (entry['first_digests'] as unknown[] | undefined)?.length ?? 0
  return {
    n: ids.length,
    ids: selected,
    first_digests: selected.slice(0, shown).map((id) => d1Digest(id, seed)),
  }
}

/** The seed is in the description of the key: sha256("d1-v1\0" + "42" + "\0" + example_id). */
function seedOfKey(key: string | undefined): bigint | undefined {
  const digits = key === undefined ? null : /"([0-9]+)"/.exec(key)
  return digits === null ? undefined : BigInt(digits[1]!)
}

function sizeOf(entry: Entry, prefix: 'eval_' | 'train_'): number {
  const list = entry[`${prefix}indices`] ?? entry[`${prefix}ids`]
  return Array.isArray(list) ? list.length : 0
}

/** The example ids of an entry's pool, or undefined if the entry says that the file is not included. */
async function poolIds(entry: Entry, data: string | undefined): Promise<readonly string[] | undefined> {
  const files = (entry.pool ?? '').match(/[a-z0-9_]+\/[A-Za-z0-9_./]+\.jsonl?/g)
  if (files === null) return undefined
  if (data === undefined) throw new Error(`the data folder with ${files.join(' and ')} was not found`)
  const pools = await Promise.all(files.map((file) => idsOfFile(data, file)))
  return pools.flat()
}

const known = new Map<string, Promise<readonly string[]>>()

function idsOfFile(data: string, file: string): Promise<readonly string[]> {
  const path = join(data, file)
  const ids = known.get(path) ?? readIds(data, file)
  known.set(path, ids)
  return ids
}

async function readIds(data: string, file: string): Promise<readonly string[]> {
  for (const benchmark of Object.values(benchmarks))
    for (const [split, { files }] of Object.entries(benchmark.splits))
      if (files.length === 1 && files[0]!.file === file)
        return (await loadSplit(data, benchmark, split, new Examples(() => false))).ids
  throw new Error(`no benchmark has a file ${file}`)
}
