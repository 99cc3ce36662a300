import { relative } from 'node:path'
import { benchmarkContracts } from '../../library/answer-contract.ts'
import { selectRoles } from '../../library/define-library.ts'
import { paperLibrary } from '../../library/paper-library/paper-library.ts'
import { benchmarkProfiles } from '../../library/profiles.ts'
import { type BenchmarkName, benchmarks } from '../benchmarks/benchmark.ts'
import type { Reference } from '../benchmarks/reference.ts'
import { defaultDataFolder } from '../data/data-folder.ts'
import { referenceScorer } from '../reference-scorer.ts'
import { type TaskSet, TaskSetError } from '../task-set.ts'
import { type ChosenSplits, choosePlan, requireFiles } from './choose-plan.ts'
import { d1Tatqa } from './d1-tatqa.ts'
import { Pool } from './pool.ts'
import { describeSelection, splitOfPart, type Taken, take } from './selection.ts'
import { type Draw, q1Deviation, q1Draws, type Study, studyDraw, studySeeds } from './studies.ts'

export interface BenchmarkOptions {
  /** The data folder. */
  readonly data?: string
  /** Whose examples; Q4 has those of Q1. D1 has nothing to train on. */
  readonly study?: Study
  /** Instead of the study's. */
  readonly seed?: number
  /** At most so many of the selected, the first in order. None: their files need not be there. */
  readonly train?: number
  readonly test?: number
  /** Q1 only: splits to draw from instead of the paper's. */
  readonly split?: ChosenSplits
}

/**
 * One of the paper's benchmarks with the examples of a study, from official files in a data folder. Where the file that Q1
 * trains on is not there, another split of the benchmark stands in, and `selection.deviation` says so.
 */
export async function benchmarkTaskSet(
  name: BenchmarkName,
  options: BenchmarkOptions = {},
): Promise<TaskSet<Reference>> {
  const { study = 'q1', data = defaultDataFolder() } = options
  const { seed = studySeeds[study] } = options
  checkCounts({ seed, train: options.train ?? 0, test: options.test ?? 0 })
  const { draws, deviation } = planOf(name, study, data, options)
  const taken: Taken[] = []
  for (const draw of draws) taken.push(await take(new Pool(data, draw.sources), draw, seed, options))
  const profile = benchmarkProfiles[name]
  const { title, metric } = benchmarks[name]
  const contract = benchmarkContracts[name]
  return {
    name,
    title,
    metric,
    library: selectRoles(paperLibrary, profile.roles),
    profile,
    scorer: referenceScorer(),
    contractOf: () => contract,
    ...(study === 'd1' && name === 'tatqa' ? d1Tatqa : {}),
    splits: {
      ...(study === 'd1' ? {} : { train: splitOfPart(taken, 'train') }),
      test: splitOfPart(taken, 'test'),
    },
    selection: {
      study,
      seed,
      ...describeSelection(taken),
      ...(deviation === undefined ? {} : { deviation }),
    },
    files: taken
      .flatMap(({ split }) => split.files)
      .map((file) => ({ ...file, path: relative(data, file.path) })),
  }
}

function checkCounts(counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts))
    if (!Number.isSafeInteger(count) || count < 0)
      throw new TaskSetError(`${name} must be a whole number from 0 on; it is ${count}.`)
}

function planOf(
  name: BenchmarkName,
  study: Study,
  folder: string,
  { train, split }: BenchmarkOptions,
): { draws: readonly Draw[]; deviation?: string | undefined } {
  if (study === 'q1') {
    const plan = choosePlan(folder, name, split, train !== 0)
    const draws = q1Draws(name, plan).filter(({ sources }) => train !== 0 || sources === plan.test)
    return { draws, deviation: q1Deviation(name, plan) }
  }
  const draw = studyDraw(name, study)
  if (draw === undefined)
    throw new TaskSetError(`The study ${study} uses mmlu_pro and tatqa only; ${name} is in q1.`)
  if (split !== undefined)
    throw new TaskSetError(`The study ${study} has its own pool; 'split' goes with q1.`)
  requireFiles(folder, draw.sources)
  return { draws: [draw] }
}
