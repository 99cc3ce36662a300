// Q1: the paper's splits if their files are present, else a stand-in; `describeDeviation` says what differs.
import { type Benchmark, sourceOf } from '../benchmarks/benchmark.ts'
import { benchmarkNames, benchmarks, isBenchmarkName } from '../benchmarks/list.ts'
import { TaskSetError } from '../task-set.ts'
import { q1Parts, sampled, sharedParts, whole } from './draws.ts'
import { Pool } from './pool.ts'
import type { Draw, Q1Splits } from './study.ts'

const training = 100

interface Q1Plan {
  readonly train: Pool
  readonly test: Pool
}

/** One draw from one pool. */
export interface PoolDraw {
  readonly pool: Pool
  readonly draw: Draw
}

/**
 * The paper's plan if its files are present, else the first stand-in whose files are. `chosen` splits (of the
 * benchmark, or `other/split` of one with the same answer form) have no stand-ins.
 */
export function choosePlan(
  folder: string,
  benchmark: Benchmark,
  chosen: Partial<Q1Splits> = {},
  trains = true,
): Q1Plan {
  const { q1 } = benchmark
  const isChosen = chosen.train !== undefined || chosen.test !== undefined
  const first = planOf(folder, benchmark, { train: chosen.train ?? q1.train, test: chosen.test ?? q1.test })
  if (isChosen) refuseOverlap(first)
  const standIns = isChosen ? [] : (q1.standIns ?? []).map((splits) => planOf(folder, benchmark, splits))
  const needed = ({ train, test }: Q1Plan) => (trains ? [train, test] : [test])
  const missing = (plan: Q1Plan) => missingFiles(needed(plan))
  const usable = [first, ...standIns].find((plan) => missing(plan).length === 0)
  if (usable !== undefined) return usable
  const messages = [missingMessage(needed(first))]
  const [nearest] = standIns.sort((a, b) => missing(a).length - missing(b).length)
  if (nearest !== undefined && missing(nearest).length < missing(first).length)
    messages.push(
      `With ${missing(nearest).join(', ')} alone there is a stand-in: ${describeDeviation(benchmark, nearest)}`,
    )
  throw new TaskSetError([...messages, ...smallerSelection(benchmark, first.test)].join(' '))
}

/** Throws an error that lists the missing files and how to get them. */
export function requireFiles(pool: Pool): void {
  if (pool.missing().length > 0) throw new TaskSetError(missingMessage([pool]))
}

/** The draws from these pools: the paper's for the paper's pools, the closest equivalent for others. */
export function q1Draws(benchmark: Benchmark, { train, test }: Q1Plan): readonly PoolDraw[] {
  const paper = planOf(test.folder, benchmark, benchmark.q1)
  const { evaluation } = benchmark.q1
  const isPaperTest = samePool(paper.train, paper.test) && samePool(test, paper.test)
  if (samePool(train, test)) {
    const shared: Draw = (pool, seed) => sharedParts(pool, { training, evaluation }, seed)
    return [{ pool: test, draw: isPaperTest ? q1Parts : shared }]
  }
  const evaluated = (pool: Pool, seed: number) => {
    if (isPaperTest) return q1Parts(pool, seed).test
    return evaluation === undefined ? whole(pool) : sampled(pool, evaluation, seed)
  }
  return [
    { pool: train, draw: (pool, seed) => ({ train: sampled(pool, training, seed) }) },
    { pool: test, draw: (pool, seed) => ({ test: evaluated(pool, seed) }) },
  ]
}

/** How a plan differs from the paper; undefined if it does not. */
export function describeDeviation(benchmark: Benchmark, { train, test }: Q1Plan): string | undefined {
  const paper = planOf(test.folder, benchmark, benchmark.q1)
  const notes = test.splits.flatMap((split) => sourceOf(test.benchmark, split).deviation ?? [])
  if (!samePool(train, paper.train) || !samePool(test, paper.test)) {
    const does = samePool(train, test)
      ? `Trains on a part of ${train.name} and evaluates on the rest`
      : `Trains on ${train.name} and evaluates on ${test.name}`
    notes.unshift(`${does}; the paper trains on ${paper.train.name} and evaluates on ${paper.test.name}.`)
  }
  return notes.length === 0 ? undefined : notes.join(' ')
}

function planOf(folder: string, benchmark: Benchmark, { train, test }: Q1Splits): Q1Plan {
  return { train: namedPool(folder, benchmark, train), test: namedPool(folder, benchmark, test) }
}

function namedPool(folder: string, benchmark: Benchmark, written: string): Pool {
  const slash = written.indexOf('/')
  const name = slash === -1 ? benchmark.name : written.slice(0, slash)
  if (!isBenchmarkName(name))
    throw new TaskSetError(`'${written}' names no benchmark; there are ${benchmarkNames.join(', ')}.`)
  const owner = benchmarks[name]
  if (owner.contract !== benchmark.contract)
    throw new TaskSetError(`${name} has answers of a different form from ${benchmark.name}.`)
  return new Pool(folder, owner, written.slice(slash + 1).split(' + '))
}

function refuseOverlap({ train, test }: Q1Plan): void {
  const overlap = train.benchmark === test.benchmark && train.splits.some((one) => test.splits.includes(one))
  if (overlap && !samePool(train, test))
    throw new TaskSetError(
      `${train.name} and ${test.name} overlap: training questions must not be evaluated on. Name both splits.`,
    )
}

function missingFiles(pools: readonly Pool[]): readonly string[] {
  return [...new Set(pools.flatMap((pool) => pool.missing()))]
}

/** What is missing, and how to get it. */
function missingMessage(pools: readonly Pool[]): string {
  const lacking = pools.filter((pool) => pool.missing().length > 0)
  const names = [...new Set(lacking.map(({ benchmark }) => benchmark.name))]
  const commands = names.map((name) => `\`magic data pull ${name}\` or \`magic data import ${name} PATH\``)
  return (
    `${pools[0]!.folder} lacks ${missingFiles(pools).join(', ')}, which this selection needs. ` +
    `Get what is missing with ${commands.join(', and ')}.`
  )
}

/** Suggests what the present files are sufficient for. */
function smallerSelection(benchmark: Benchmark, test: Pool): readonly string[] {
  const suggestion = (split: string, parts: string) =>
    `What is there is enough to train on a part of ${benchmark.name} ${split} and evaluate the rest: choose the split '${split}' for ${parts}.`
  const isHere = (split: string) => new Pool(test.folder, benchmark, [split]).missing().length === 0
  if (test.splits.length === 1 && test.benchmark === benchmark && isHere(test.splits[0]!))
    return [suggestion(test.splits[0]!, 'training')]
  const labelled = Object.keys(benchmark.splits).filter((split) => !benchmark.splits[split]!.unlabelled)
  return labelled
    .filter(isHere)
    .slice(0, 1)
    .map((split) => suggestion(split, 'training and evaluation'))
}

function samePool(a: Pool, b: Pool): boolean {
  return a.name === b.name
}
