import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { type Configuration, loadConfiguration, ownTasksOf } from '../../configuration/configuration.ts'
import { isBuiltInTaskSet } from '../../configuration/configuration-schema.ts'
import type { JsonObject } from '../../library/json-value.ts'
import { SandboxPool } from '../../sandbox/pool.ts'
import { sandboxAvailability } from '../../sandbox/program-sandbox.ts'
import { SandboxUnavailable } from '../../sandbox/unavailable.ts'
import type { SyntheticFamily } from '../../simulator/questions/synthetic-task-set.ts'
import { type BenchmarkName, benchmarkNames } from '../../tasks/benchmarks/list.ts'
import { answerKinds } from '../../tasks/own/answer-kind.ts'
import type { JudgeScorer } from '../../tasks/own/judge-scorer.ts'
import { type ScorerName, scorerNames } from '../../tasks/own/named-scorer.ts'
import { ownTaskSet } from '../../tasks/own/own-task-set.ts'
import { isQuestionFile } from '../../tasks/own/question-file.ts'
import { benchmarkTaskSet } from '../../tasks/studies/benchmark-task-set.ts'
import { type Study, studySeeds } from '../../tasks/studies/study.ts'
import type { TaskSet } from '../../tasks/task-set.ts'
import { UsageError } from '../problem.ts'
import { wholeNumber } from './option-values.ts'

/** How a task set is found, and found again by a resume: plain data, kept in the run's record. */
export interface TaskSource {
  /** `synthetic`, a benchmark, or a question file; absent for what the configuration says. */
  readonly tasks?: string
  readonly config?: string
  readonly trainSize?: number
  readonly testSize?: number
  readonly study?: Study
  readonly data?: string
  readonly answer?: (typeof answerKinds)[number]
  /** Of a question file, instead of the kind's comparison or the configuration's scorer. */
  readonly scorer?: ScorerName | JudgeScorer
  readonly taskSeed?: number
  /** Of the synthetic questions; all that this machine can score by default. */
  readonly families?: readonly SyntheticFamily[]
}

/** The same as flags. */
export interface TaskOptions extends Omit<TaskSource, 'scorer'> {
  readonly scorer?: ScorerName | 'judge'
  /** What makes an answer right, for the judge. */
  readonly judge?: string
}

export interface OpenedTasks {
  readonly set: TaskSet
  readonly source: TaskSource
  readonly configuration?: Configuration
  /** What was decided for the user. */
  readonly notes: readonly string[]
}

const usualSizes = { train: 100, test: 200 }

export function addTaskOptions(command: Command): Command {
  return addTaskSourceOptions(
    command.argument(
      '[tasks]',
      `a question file (.jsonl, .csv), \`synthetic\`, or a benchmark (${benchmarkNames.join(', ')}); without it, what magic.config.ts says`,
    ),
  )
}

export function addTaskSourceOptions(command: Command): Command {
  return command
    .optionsGroup('Tasks:')
    .option('--config <file>', 'configuration; magic.config.* of this folder by default')
    .option('--train-size <n>', 'training questions at most', wholeNumber(1))
    .option('--test-size <n>', 'held-out questions at most', wholeNumber(1))
    .addOption(
      new Option('--study <name>', "a benchmark's selection in the paper").choices(Object.keys(studySeeds)),
    )
    .option('--data <folder>', 'where the benchmarks are; see `magic data`')
    .addOption(new Option('--answer <kind>', 'what the answers of a question file are').choices(answerKinds))
    .addOption(
      new Option('--scorer <name>', 'how a question file is scored, instead of by equality').choices([
        ...scorerNames,
        'judge',
      ]),
    )
    .option('--judge <text>', 'what makes an answer right, for the model as judge')
    .option('--task-seed <n>', 'seed of the selection, or of the synthetic questions', wholeNumber(0))
    .optionsGroup('')
}

/** A command's options as a source. Paths become absolute: a resume may start in another folder. */
export function taskSource(tasks: string | undefined, options: TaskOptions): TaskSource {
  const { trainSize, testSize, study, data, answer, taskSeed } = options
  const isNamed = tasks !== undefined || options.config !== undefined
  if (!isNamed && !readdirSync('.').some((name) => name.startsWith('magic.config.')))
    throw new UsageError(nothingToLearn)
  const config = isNamed ? options.config : '.'
  const source = {
    tasks: tasks && !isBuiltInTaskSet(tasks) ? resolve(tasks) : tasks,
    config: config && resolve(config),
    ...{ trainSize, testSize, study, data: data && resolve(data), answer, taskSeed },
    scorer: scorerOf(options),
  }
  // A run's record keeps the source: what was not given leaves no field there.
  return JSON.parse(JSON.stringify(source))
}

function scorerOf({ scorer, judge }: TaskOptions): TaskSource['scorer'] {
  if (judge === undefined && scorer !== 'judge') return scorer
  if (!judge?.trim())
    throw new UsageError(
      "A judge must know what makes an answer right: --judge 'Right if the reply names the refund period.'",
    )
  if (scorer !== undefined && scorer !== 'judge')
    throw new UsageError(`--judge is for the scorer 'judge', and --scorer says '${scorer}'. Leave one out.`)
  return { judge }
}

const nothingToLearn =
  'Say what to learn: a question file (`magic train questions.jsonl`), `synthetic` or a benchmark; or set `tasks` in magic.config.ts (`magic init` writes one).'

export async function openTasks(source: TaskSource): Promise<OpenedTasks> {
  const configuration = source.config === undefined ? undefined : await loadConfiguration(source.config)
  const named = source.tasks ?? configuration?.tasks
  if (source.scorer !== undefined && isBuiltInTaskSet(named))
    throw new UsageError(`--scorer is for your own questions; ${named} has a scorer of its own.`)
  const opened = await (named === 'synthetic'
    ? openSynthetic(source)
    : isBuiltInTaskSet(named)
      ? openBenchmark(named as BenchmarkName, source)
      : openOwn(source, configuration))
  return { source, configuration, ...opened, set: shortened(opened.set, source) }
}

type Opened = Pick<OpenedTasks, 'set' | 'notes'> & Partial<Pick<OpenedTasks, 'source'>>

async function openBenchmark(name: BenchmarkName, source: TaskSource): Promise<Opened> {
  const { trainSize: train, testSize: test, taskSeed: seed, study, data } = source
  const set = await benchmarkTaskSet(name, { data, study, seed, train, test })
  const { deviation } = set.selection
  return { set, notes: typeof deviation === 'string' ? [deviation] : [] }
}

async function openSynthetic(source: TaskSource): Promise<Opened> {
  const { trainSize: train = usualSizes.train, testSize: test = usualSizes.test, taskSeed: seed = 0 } = source
  // Only now: no other command waits for its texts to be read.
  const { syntheticFamilies, syntheticTaskSet } = await import(
    '../../simulator/questions/synthetic-task-set.ts'
  )
  if (source.families !== undefined)
    return { set: syntheticTaskSet({ seed, train, test, families: source.families }), notes: [] }
  // Programs can only be asked for where they can be run. Recorded, so that a resume elsewhere has the same questions.
  const found = await sandboxAvailability(new SandboxPool())
  const runsPrograms = !(found instanceof SandboxUnavailable)
  const families = syntheticFamilies.filter((family) => family !== 'code' || runsPrograms)
  const without =
    'Without bubblewrap the programming questions are left out: their tests could not be run. `magic doctor` says how to get it.'
  return {
    set: syntheticTaskSet({ seed, train, test, families }),
    source: { ...source, families },
    notes: families.length < syntheticFamilies.length ? [without] : [],
  }
}

async function openOwn(source: TaskSource, configuration: Configuration | undefined): Promise<Opened> {
  const { tasks, answer, scorer, taskSeed: seed } = source
  if (tasks !== undefined && !isQuestionFile(tasks))
    throw new UsageError(
      `'${tasks}' is neither a question file (.jsonl, .csv) nor one of synthetic, ${benchmarkNames.join(', ')}.`,
    )
  // A named file replaces only the configuration's questions: roles and scoring stay.
  const set = configuration
    ? await ownTasksOf({ ...configuration, tasks: tasks ?? configuration.tasks }, { answer, scorer, seed })
    : tasks && (await ownTaskSet({ files: tasks, answer, scorer, seed }))
  if (!set) throw new UsageError(nothingToLearn)
  return { set, notes: set.notes }
}

/** The method that these tasks are trained by unless another is asked for: a benchmark's is the paper's. */
export function usualMethod({ tasks }: TaskSource, configuration?: Configuration): 'paper' | 'values' {
  const named = tasks ?? configuration?.tasks
  return isBuiltInTaskSet(named) && named !== 'synthetic' ? 'paper' : 'values'
}

/** The first of each split, as many as are wanted. */
function shortened(set: TaskSet, { trainSize, testSize }: TaskSource): TaskSet {
  const most: Record<string, number | undefined> = { train: trainSize, test: testSize }
  const cut = Object.entries(set.splits).filter(
    ([name, { tasks }]) => tasks.length > (most[name] ?? tasks.length),
  )
  if (cut.length === 0) return set
  const splits = Object.fromEntries(
    cut.map(([name, { tasks, references }]) => [name, { tasks: tasks.slice(0, most[name]), references }]),
  )
  const shortenedTo = Object.fromEntries(cut.map(([name]) => [name, most[name]!]))
  return {
    ...set,
    splits: { ...set.splits, ...splits },
    selection: { ...set.selection, shortenedTo } as JsonObject,
    contractOf: (task) => set.contractOf(task),
  }
}
