// Which of Q1's plans the files of a data folder allow; what to do where they allow none.

import { benchmarkContracts } from '../../library/answer-contract.ts'
import { type Benchmark, type BenchmarkName, benchmarks, splitOf } from '../benchmarks/benchmark.ts'
import { TaskSetError } from '../task-set.ts'
import { missingFiles, poolName, type Source } from './pool.ts'
import { type Q1Plan, q1Deviation, q1Studies, samePool } from './studies.ts'

/** Splits to take instead of the paper's: one of the benchmark, or `livecodebench/sample` for one of its kin. */
export interface ChosenSplits {
  readonly train?: string
  readonly test?: string
}

/** The paper's plan if its files are there, else the first stand-in whose files are. */
export function choosePlan(
  folder: string,
  name: BenchmarkName,
  chosen: ChosenSplits = {},
  trains = true,
): Q1Plan {
  const { paper, standIns = [] } = q1Studies[name]
  const isChosen = chosen.train !== undefined || chosen.test !== undefined
  const first = isChosen ? chosenPlan(name, paper, chosen) : paper
  const needed = ({ train, test }: Q1Plan) => (trains ? [...train, ...test] : test)
  const missing = (plan: Q1Plan) => missingFiles(folder, needed(plan))
  const here = [first, ...(isChosen ? [] : standIns)].find((plan) => missing(plan).length === 0)
  if (here !== undefined) return here
  const [nearest] = [...standIns].sort((a, b) => missing(a).length - missing(b).length)
  const fewer = !isChosen && nearest !== undefined && missing(nearest).length < missing(first).length
  throw new TaskSetError(
    [
      lackOf(folder, needed(first)),
      ...(fewer
        ? [`With ${missing(nearest).join(', ')} alone there is a stand-in: ${q1Deviation(name, nearest)}`]
        : []),
      ...smallerSelection(folder, name, first.test),
    ].join(' '),
  )
}

/** Throws an error that names the missing files and how to get them. */
export function requireFiles(folder: string, sources: readonly Source[]): void {
  if (missingFiles(folder, sources).length > 0) throw new TaskSetError(lackOf(folder, sources))
}

function chosenPlan(name: BenchmarkName, paper: Q1Plan, { train, test }: ChosenSplits): Q1Plan {
  const plan = {
    train: train === undefined ? paper.train : [namedSource(name, train)],
    test: test === undefined ? paper.test : [namedSource(name, test)],
  }
  const overlap = plan.train.some((source) => plan.test.some((other) => samePool([source], [other])))
  if (overlap && !samePool(plan.train, plan.test))
    throw new TaskSetError(
      `${poolName(plan.train)} and ${poolName(plan.test)} overlap: what is trained on must not be evaluated. ` +
        'Name both splits.',
    )
  return plan
}

function namedSource(name: BenchmarkName, written: string): Source {
  const slash = written.indexOf('/')
  const source = {
    benchmark: (slash === -1 ? name : written.slice(0, slash)) as BenchmarkName,
    split: written.slice(slash + 1),
  }
  if (!Object.hasOwn(benchmarks, source.benchmark))
    throw new TaskSetError(
      `'${written}' names no benchmark; there are ${Object.keys(benchmarks).join(', ')}.`,
    )
  if (benchmarkContracts[source.benchmark] !== benchmarkContracts[name])
    throw new TaskSetError(`${source.benchmark} has answers of another form than ${name}.`)
  try {
    splitOf(source.benchmark, source.split)
  } catch (error) {
    throw new TaskSetError((error as Error).message, { cause: error })
  }
  return source
}

/** What is missing, and how to get it. */
function lackOf(folder: string, sources: readonly Source[]): string {
  const lacking = sources.filter((source) => missingFiles(folder, [source]).length > 0)
  const names = [...new Set(lacking.map(({ benchmark }) => benchmark))]
  const commands = names.map((name) => `\`magic data pull ${name}\` or \`magic data import ${name} PATH\``)
  return (
    `${folder} lacks ${missingFiles(folder, sources).join(', ')}, which this selection needs. ` +
    `Get what is missing with ${commands.join(', and ')}.`
  )
}

/** What the files that are there are enough for. */
function smallerSelection(folder: string, name: BenchmarkName, test: readonly Source[]): readonly string[] {
  const isHere = (sources: readonly Source[]) => missingFiles(folder, sources).length === 0
  const told = (split: string, parts: string) =>
    `What is there is enough to train on a part of ${name} ${split} and evaluate the rest: choose the split '${split}' for ${parts}.`
  if (test.length === 1 && test[0]!.benchmark === name && isHere(test))
    return [told(test[0]!.split, 'training')]
  const { splits }: Benchmark = benchmarks[name]
  return Object.keys(splits)
    .filter((split) => split !== 'test-unlabelled' && isHere([{ benchmark: name, split }]))
    .slice(0, 1)
    .map((split) => told(split, 'training and evaluation'))
}
