import { relative } from 'node:path'
import { selectRoles } from '../../library/define-library.ts'
import type { JsonObject } from '../../library/json-value.ts'
import { paperLibrary } from '../../library/paper-library/paper-library.ts'
import { type Benchmark, benchmarkProfile } from '../benchmarks/benchmark.ts'
import type { Examples } from '../benchmarks/examples.ts'
import { type BenchmarkName, benchmarkNames, benchmarks } from '../benchmarks/list.ts'
import type { Reference } from '../scoring/reference.ts'
import { referenceScorer } from '../scoring/reference-scorer.ts'
import { defaultDataFolder } from '../sources/data-folder.ts'
import { type TaskSet, TaskSetError, type TaskSplit } from '../task-set.ts'
import { Pool } from './pool.ts'
import {
  type ChosenSplits,
  choosePlan,
  describeDeviation,
  type PoolDraw,
  q1Draws,
  requireFiles,
} from './q1.ts'
import { type Parts, type Study, studySeeds } from './study.ts'

export interface BenchmarkOptions {
  /** The data folder. */
  readonly data?: string
  /** Whose examples; Q4 uses those of Q1. D1 has nothing to train on. */
  readonly study?: Study
  /** Instead of the study's. */
  readonly seed?: number
  /** At most this many of the selected, the first in order. With 0, their files need not be there. */
  readonly train?: number
  readonly test?: number
  /** Q1 only: splits to draw from instead of the paper's. */
  readonly split?: ChosenSplits
}

/**
 * One of the paper's benchmarks with the examples of a study, from official files in a data folder. Where the file that
 * Q1 trains on is missing, another split of the benchmark stands in, and `selection.deviation` says so.
 */
export async function benchmarkTaskSet(
  name: BenchmarkName,
  options: BenchmarkOptions = {},
): Promise<TaskSet<Reference>> {
  const benchmark: Benchmark = benchmarks[name]
  const { study = 'q1', data = defaultDataFolder() } = options
  const { seed = studySeeds[study], train, test } = options
  checkCounts({ seed, train: train ?? 0, test: test ?? 0 })
  const { draws, deviation } = drawsOf(benchmark, study, data, options)
  const taken: Taken[] = []
  for (const draw of draws) taken.push(await take(new Pool(data, draw.sources), draw, seed, { train, test }))
  const { metric, contract, scorer } = {
    metric: benchmark.metric,
    contract: benchmark.contract,
    scorer: referenceScorer(),
    ...(study === 'd1' ? benchmark.d1 : undefined),
  }
  const testSplit = { test: splitOfPart(taken, 'test') }
  const selection = { study, seed, ...describeSelection(taken) }
  return {
    name,
    title: benchmark.title,
    metric,
    library: selectRoles(paperLibrary, benchmark.roles),
    profile: benchmarkProfile(benchmark),
    scorer,
    contractOf: () => contract,
    splits: study === 'd1' ? testSplit : { train: splitOfPart(taken, 'train'), ...testSplit },
    selection: deviation === undefined ? selection : { ...selection, deviation },
    files: taken
      .flatMap(({ examples }) => examples.files)
      .map((file) => ({ ...file, path: relative(data, file.path) })),
  }
}

function checkCounts(counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts))
    if (!Number.isSafeInteger(count) || count < 0)
      throw new TaskSetError(`${name} must be a whole number from 0 on; it is ${count}.`)
}

function drawsOf(
  benchmark: Benchmark,
  study: Study,
  folder: string,
  { train, split }: BenchmarkOptions,
): { draws: readonly PoolDraw[]; deviation?: string | undefined } {
  if (study === 'q1') {
    const plan = choosePlan(folder, benchmark, split, train !== 0)
    const draws = q1Draws(benchmark, plan).filter(({ sources }) => train !== 0 || sources === plan.test)
    return { draws, deviation: describeDeviation(benchmark, plan) }
  }
  const { furtherStudies } = benchmark
  if (furtherStudies === undefined) {
    const names = benchmarkNames.filter((name) => benchmarks[name].furtherStudies !== undefined)
    throw new TaskSetError(`The study ${study} uses ${names.join(' and ')} only; ${benchmark.name} is in q1.`)
  }
  if (split !== undefined)
    throw new TaskSetError(`The study ${study} has its own pool; 'split' goes with q1.`)
  const sources = [{ benchmark, split: furtherStudies.split }]
  requireFiles(folder, sources)
  return { draws: [{ sources, parts: furtherStudies[study] }] }
}

/** What one draw took from its pool. */
interface Taken {
  readonly pool: Pool
  readonly parts: Parts
  readonly ids: Readonly<Record<'train' | 'test', readonly string[]>>
  readonly examples: Examples
}

async function take(
  pool: Pool,
  draw: PoolDraw,
  seed: number,
  limits: { train: number | undefined; test: number | undefined },
): Promise<Taken> {
  const parts = await draw.parts(pool, seed)
  const train = parts.train?.positions.slice(0, limits.train) ?? []
  const test = parts.test?.positions.slice(0, limits.test) ?? []
  const examples = await pool.read(new Set([...train, ...test]))
  const { ids } = examples
  const named = (positions: readonly number[]) => positions.map((position) => ids[position]!)
  return { pool, parts, ids: { train: named(train), test: named(test) }, examples }
}

/** The tasks of one part, in order, with their references. */
function splitOfPart(taken: readonly Taken[], part: 'train' | 'test'): TaskSplit<Reference> {
  for (const { pool, ids, examples } of taken) checkUsable(pool.name, ids[part], examples)
  const all = taken.flatMap(({ ids, examples }) => ids[part].map((id) => ({ id, examples })))
  return {
    tasks: all.map(({ id, examples }) => examples.tasks.get(id)!),
    references: new Map(all.map(({ id, examples }) => [id, examples.references.get(id)!])),
  }
}

function checkUsable(pool: string, ids: readonly string[], { tasks, references }: Examples): void {
  if (ids.some((id) => !references.has(id)))
    throw new TaskSetError(`${pool} is published without answers: nothing in it can be scored.`)
  const lacking = ids.filter((id) => !tasks.has(id))
  if (lacking.length > 0)
    throw new TaskSetError(
      `${lacking.length} selected examples of ${pool} have no table, '${lacking[0]}' for one. ` +
        'Get all tables with `magic data pull tabfact` or `magic data import tabfact PATH`.',
    )
}

/** How the examples were chosen, for people and for `membership.json`. */
function describeSelection(taken: readonly Taken[]): JsonObject {
  const pools = taken.map(({ pool, ids }) => ({
    pool: pool.name,
    examples: pool.size,
    leftAside: pool.size - ids.train.length - ids.test.length,
  }))
  const discarded = taken.flatMap(({ parts }) => parts.discarded ?? [])
  const described = { pools, ...describePart(taken, 'train'), ...describePart(taken, 'test') }
  return discarded.length === 0 ? described : { ...described, discarded }
}

function describePart(taken: readonly Taken[], part: 'train' | 'test'): JsonObject {
  const from = taken.find(({ parts }) => parts[part] !== undefined)
  if (from === undefined) return {}
  const { positions, recipe } = from.parts[part]!
  return { [part]: { recipe, selected: positions.length, used: from.ids[part].length } }
}
