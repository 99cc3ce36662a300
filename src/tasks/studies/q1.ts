// Q1: the paper's splits where their files are there, else a stand-in; `describeDeviation` says what differs.
import { type Benchmark, sourceOf } from '../benchmarks/benchmark.ts'
import { benchmarkNames, benchmarks, isBenchmarkName } from '../benchmarks/list.ts'
import { TaskSetError } from '../task-set.ts'
import { q1Parts, sampled, sharedParts, whole } from './draws.ts'
import { missingFiles, type Pool, poolName, type Source } from './pool.ts'
import type { DrawParts, Q1Splits } from './study.ts'

const training = 100

interface Q1Plan {
  readonly train: readonly Source[]
  readonly test: readonly Source[]
}

/** Splits to take instead of the paper's: one of the benchmark, or `other/split` of one with the same answer form. */
export interface ChosenSplits {
  readonly train?: string
  readonly test?: string
}

/** One draw from one pool. */
export interface PoolDraw {
  readonly sources: readonly Source[]
  readonly parts: DrawParts
}

/** The paper's plan if its files are there, else the first stand-in whose files are. */
export function choosePlan(
  folder: string,
  benchmark: Benchmark,
  chosen: ChosenSplits = {},
  trains = true,
): Q1Plan {
  const isChosen = chosen.train !== undefined || chosen.test !== undefined
  const first = isChosen ? chosenPlan(benchmark, chosen) : paperPlan(benchmark)
  const standIns = isChosen ? [] : (benchmark.q1.standIns ?? []).map((splits) => planOf(benchmark, splits))
  const needed = ({ train, test }: Q1Plan) => (trains ? [...train, ...test] : test)
  const missing = (plan: Q1Plan) => missingFiles(folder, needed(plan))
  const usable = [first, ...standIns].find((plan) => missing(plan).length === 0)
  if (usable !== undefined) return usable
  const messages = [missingMessage(folder, needed(first))]
  const [nearest] = standIns.sort((a, b) => missing(a).length - missing(b).length)
  if (nearest !== undefined && missing(nearest).length < missing(first).length)
    messages.push(
      `With ${missing(nearest).join(', ')} alone there is a stand-in: ${describeDeviation(benchmark, nearest)}`,
    )
  throw new TaskSetError([...messages, ...smallerSelection(folder, benchmark, first.test)].join(' '))
}

/** Throws an error that names the missing files and how to get them. */
export function requireFiles(folder: string, sources: readonly Source[]): void {
  if (missingFiles(folder, sources).length > 0) throw new TaskSetError(missingMessage(folder, sources))
}

/** The draws from these pools: the paper's own from the paper's pools, the nearest to them from others. */
export function q1Draws(benchmark: Benchmark, plan: Q1Plan): readonly PoolDraw[] {
  const paper = paperPlan(benchmark)
  const { evaluation } = benchmark.q1
  if (samePool(plan.train, plan.test)) {
    const shared: DrawParts = (pool, seed) => sharedParts(pool, { training, evaluation }, seed)
    return [{ sources: plan.test, parts: samePlan(plan, paper) ? q1Parts : shared }]
  }
  const paperEvaluation = samePool(paper.train, paper.test) && samePool(plan.test, paper.test)
  const evaluated = (pool: Pool, seed: number) => {
    if (paperEvaluation) return q1Parts(pool, seed).test
    return evaluation === undefined ? whole(pool) : sampled(pool, evaluation, seed)
  }
  return [
    { sources: plan.train, parts: (pool, seed) => ({ train: sampled(pool, training, seed) }) },
    { sources: plan.test, parts: (pool, seed) => ({ test: evaluated(pool, seed) }) },
  ]
}

/** How a plan differs from the paper; undefined where it does not. */
export function describeDeviation(benchmark: Benchmark, plan: Q1Plan): string | undefined {
  const paper = paperPlan(benchmark)
  const notes = plan.test.flatMap((source) => sourceOf(source.benchmark, source.split).deviation ?? [])
  if (!samePlan(plan, paper)) {
    const does = samePool(plan.train, plan.test)
      ? `Trains on a part of ${poolName(plan.train)} and evaluates on the rest`
      : `Trains on ${poolName(plan.train)} and evaluates on ${poolName(plan.test)}`
    notes.unshift(
      `${does}; the paper trains on ${poolName(paper.train)} and evaluates on ${poolName(paper.test)}.`,
    )
  }
  return notes.length === 0 ? undefined : notes.join(' ')
}

function paperPlan(benchmark: Benchmark): Q1Plan {
  return planOf(benchmark, benchmark.q1)
}

function planOf(benchmark: Benchmark, { train, test }: Q1Splits): Q1Plan {
  const resolve = (written: string) => namedSource(benchmark, written)
  return { train: train.map(resolve), test: test.map(resolve) }
}

function chosenPlan(benchmark: Benchmark, { train, test }: ChosenSplits): Q1Plan {
  const plan = planOf(benchmark, {
    train: train === undefined ? benchmark.q1.train : [train],
    test: test === undefined ? benchmark.q1.test : [test],
  })
  const overlap = plan.train.some((source) => plan.test.some((other) => samePool([source], [other])))
  if (overlap && !samePool(plan.train, plan.test))
    throw new TaskSetError(
      `${poolName(plan.train)} and ${poolName(plan.test)} overlap: what is trained on must not be evaluated. ` +
        'Name both splits.',
    )
  return plan
}

function namedSource(benchmark: Benchmark, written: string): Source {
  const slash = written.indexOf('/')
  const name = slash === -1 ? benchmark.name : written.slice(0, slash)
  if (!isBenchmarkName(name))
    throw new TaskSetError(`'${written}' names no benchmark; there are ${benchmarkNames.join(', ')}.`)
  const owner = benchmarks[name]
  if (owner.contract !== benchmark.contract)
    throw new TaskSetError(`${name} has answers of a different form from ${benchmark.name}.`)
  const split = written.slice(slash + 1)
  sourceOf(owner, split)
  return { benchmark: owner, split }
}

/** What is missing, and how to get it. */
function missingMessage(folder: string, sources: readonly Source[]): string {
  const lacking = sources.filter((source) => missingFiles(folder, [source]).length > 0)
  const names = [...new Set(lacking.map(({ benchmark }) => benchmark.name))]
  const commands = names.map((name) => `\`magic data pull ${name}\` or \`magic data import ${name} PATH\``)
  return (
    `${folder} lacks ${missingFiles(folder, sources).join(', ')}, which this selection needs. ` +
    `Get what is missing with ${commands.join(', and ')}.`
  )
}

/** What the files that are there suffice for. */
function smallerSelection(folder: string, benchmark: Benchmark, test: readonly Source[]): readonly string[] {
  const isHere = (sources: readonly Source[]) => missingFiles(folder, sources).length === 0
  const suggestion = (split: string, parts: string) =>
    `What is there is enough to train on a part of ${benchmark.name} ${split} and evaluate the rest: choose the split '${split}' for ${parts}.`
  if (test.length === 1 && test[0]!.benchmark === benchmark && isHere(test))
    return [suggestion(test[0]!.split, 'training')]
  const usable = Object.entries(benchmark.splits).find(
    ([split, { unlabelled }]) => !unlabelled && isHere([{ benchmark, split }]),
  )
  return usable === undefined ? [] : [suggestion(usable[0], 'training and evaluation')]
}

function samePlan(a: Q1Plan, b: Q1Plan): boolean {
  return samePool(a.train, b.train) && samePool(a.test, b.test)
}

function samePool(a: readonly Source[], b: readonly Source[]): boolean {
  return poolName(a) === poolName(b)
}
