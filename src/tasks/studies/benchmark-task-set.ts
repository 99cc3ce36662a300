import { relative } from 'node:path'
import { selectRoles } from '../../library/define-library.ts'
import type { JsonObject, JsonValue } from '../../library/json-value.ts'
import { paperLibrary } from '../../library/paper-library/paper-library.ts'
import type { Task } from '../../library/task.ts'
import { type Benchmark, benchmarkProfile } from '../benchmarks/benchmark.ts'
import type { Examples } from '../benchmarks/examples.ts'
import { type BenchmarkName, benchmarkNames, benchmarks } from '../benchmarks/list.ts'
import type { Reference } from '../scoring/reference.ts'
import { referenceScorer } from '../scoring/reference-scorer.ts'
import { defaultDataFolder } from '../sources/data-folder.ts'
import { type TaskScorer, type TaskSet, TaskSetError, type TaskSplit } from '../task-set.ts'
import { d3Parts } from './draws.ts'
import { Pool } from './pool.ts'
import { choosePlan, describeDeviation, type PoolDraw, q1Draws, requireFiles } from './q1.ts'
import { type Parts, type Q1Splits, type Study, studySeeds } from './study.ts'

export interface BenchmarkOptions {
  /** The data folder. */
  readonly data?: string
  /** The study whose examples to use; Q4 uses those of Q1. D1 has no training examples. */
  readonly study?: Study
  /** Overrides the study's seed. */
  readonly seed?: number
  /** Use only the first this many of the selected examples. With 0, their files are not needed. */
  readonly train?: number
  readonly test?: number
  /** Q1 only: splits to draw from instead of the paper's. */
  readonly split?: Partial<Q1Splits>
}

/**
 * One of the paper's benchmarks with the examples of a study, from official files in a data folder. If the file that
 * Q1 trains on is missing, another split stands in, and `selection.deviation` says so.
 */
export async function benchmarkTaskSet(
  name: BenchmarkName,
  options: BenchmarkOptions = {},
): Promise<TaskSet<Reference>> {
  const benchmark: Benchmark = benchmarks[name]
  const { study = 'q1', data = defaultDataFolder() } = options
  const { seed = studySeeds[study], train, test } = options
  for (const [name, count] of Object.entries({ seed, train: train ?? 0, test: test ?? 0 }))
    if (!Number.isSafeInteger(count) || count < 0)
      throw new TaskSetError(`${name} must be a whole number, 0 or more; it is ${count}.`)
  const { draws, deviation } = drawsOf(benchmark, study, data, options)
  const taken: Taken[] = []
  for (const { pool, draw } of draws) taken.push(await take(pool, await draw(pool, seed), { train, test }))
  const d1 = study === 'd1' ? benchmark.d1 : undefined
  const { metric, contract } = d1 ?? benchmark
  const profile = benchmarkProfile(benchmark)
  const selection = { study, seed, ...describeSelection(taken) }
  return {
    name,
    title: benchmark.title,
    metric,
    library: selectRoles(paperLibrary, profile.roles),
    profile,
    scorer: study === 'd1' ? failuresCountAsWrong(d1?.scorer ?? referenceScorer()) : referenceScorer(),
    contractOf: () => contract,
    splits: {
      ...(study === 'd1' ? {} : { train: splitOfPart(taken, 'train') }),
      ...(study === 'd3' ? {} : { test: splitOfPart(taken, 'test') }),
    },
    selection: deviation === undefined ? selection : { ...selection, deviation },
    files: taken
      .flatMap(({ examples }) => examples.files)
      .map((file) => ({ ...file, path: relative(data, file.path) })),
  }
}

/** D1's rule: a right answer scores 0 if a node failed. The original score is kept as a measure. */
function failuresCountAsWrong(scorer: TaskScorer<Reference>): TaskScorer<Reference> {
  return {
    ...scorer,
    version: `${scorer.version}, failures count as wrong`,
    async score(answer, reference, means) {
      const scored = await scorer.score(answer, reference, means)
      const measures = { ...scored.measures, beforeFailures: scored.score }
      return { ...scored, score: (means.failures ?? 0) > 0 ? 0 : scored.score, measures }
    },
  }
}

function drawsOf(
  benchmark: Benchmark,
  study: Study,
  folder: string,
  { train, split }: BenchmarkOptions,
): { draws: readonly PoolDraw[]; deviation?: string } {
  if (study === 'q1') {
    const plan = choosePlan(folder, benchmark, split, train !== 0)
    const draws = q1Draws(benchmark, plan).filter(({ pool }) => train !== 0 || pool === plan.test)
    return { draws, deviation: describeDeviation(benchmark, plan) }
  }
  if (study === 'd3') return d3Draw(benchmark, folder)
  const { furtherStudies } = benchmark
  if (furtherStudies === undefined) {
    const names = benchmarkNames.filter((name) => benchmarks[name].furtherStudies !== undefined)
    throw new TaskSetError(`The study ${study} uses ${names.join(' and ')} only; ${benchmark.name} is in q1.`)
  }
  if (split !== undefined)
    throw new TaskSetError(`The study ${study} has its own pool; 'split' goes with q1.`)
  const pool = new Pool(folder, benchmark, [furtherStudies.split])
  requireFiles(pool)
  return { draws: [{ pool, draw: furtherStudies[study] }] }
}

function d3Draw(benchmark: Benchmark, folder: string): { draws: readonly PoolDraw[]; deviation?: string } {
  const { d3, name } = benchmark
  if (d3 === undefined) {
    const names = benchmarkNames.filter((one) => (benchmarks[one] as Benchmark).d3 !== undefined)
    throw new TaskSetError(`The study d3 uses ${names.join(', ')} only; ${name} is in q1.`)
  }
  const pool = new Pool(folder, benchmark, [d3.split])
  if (pool.missing().length === 0 || d3.standIn === undefined) {
    requireFiles(pool)
    return { draws: [{ pool, draw: d3Parts }] }
  }
  const standIn = new Pool(folder, benchmark, [d3.standIn])
  requireFiles(standIn)
  const deviation = `Takes its questions from ${standIn.name}; the paper takes them from ${pool.name}, whose files are missing (${pool.missing().join(', ')}).`
  return { draws: [{ pool: standIn, draw: d3Parts }], deviation }
}

type Part = 'train' | 'test'

/** The examples one draw took from its pool. */
interface Taken {
  readonly pool: Pool
  readonly parts: Parts
  readonly ids: Readonly<Record<Part, readonly string[]>>
  readonly examples: Examples
}

async function take(pool: Pool, parts: Parts, limits: { train?: number; test?: number }): Promise<Taken> {
  const used = (part: Part) => parts[part]?.positions.slice(0, limits[part]) ?? []
  const examples = await pool.read(new Set([...used('train'), ...used('test')]))
  const { ids } = examples
  const named = (part: Part) => used(part).map((position) => ids[position]!)
  return { pool, parts, ids: { train: named('train'), test: named('test') }, examples }
}

/** The tasks of one part, in order, with their references. */
function splitOfPart(taken: readonly Taken[], part: Part): TaskSplit<Reference> {
  const tasks: Task[] = []
  const references = new Map<string, Reference>()
  for (const { pool, ids, examples } of taken) {
    if (ids[part].some((id) => !examples.references.has(id)))
      throw new TaskSetError(`${pool.name} is published without answers: nothing in it can be scored.`)
    const lacking = ids[part].filter((id) => !examples.tasks.has(id))
    if (lacking.length > 0)
      throw new TaskSetError(
        `${lacking.length} selected examples of ${pool.name} have no table, '${lacking[0]}' for one. ` +
          'Get all tables with `magic data pull tabfact` or `magic data import tabfact PATH`.',
      )
    for (const id of ids[part]) {
      tasks.push(examples.tasks.get(id)!)
      references.set(id, examples.references.get(id)!)
    }
  }
  return { tasks, references }
}

/** How the examples were chosen, for display and `membership.json`. */
function describeSelection(taken: readonly Taken[]): JsonObject {
  const pools = taken.map(({ pool, ids }) => ({
    pool: pool.name,
    examples: pool.size,
    leftAside: pool.size - ids.train.length - ids.test.length,
  }))
  const described: Record<string, JsonValue> = { pools }
  for (const part of ['train', 'test'] as const) {
    const from = taken.find(({ parts }) => parts[part] !== undefined)
    if (from === undefined) continue
    const { positions, recipe } = from.parts[part]!
    described[part] = { recipe, selected: positions.length, used: from.ids[part].length }
  }
  const discarded = taken.flatMap(({ parts }) => parts.discarded ?? [])
  return discarded.length === 0 ? described : { ...described, discarded }
}
