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

/** Where a task set comes from: plain data in the run's record, so that a resume opens the same one. */
export interface TaskSource {
  /** `synthetic`, a benchmark or a question file; absent if the configuration decides. */
  readonly tasks?: string
  readonly config?: string
  readonly trainSize?: number
  readonly testSize?: number
  readonly study?: Study
  readonly data?: string
  readonly answer?: (typeof answerKinds)[number]
  /** For a question file: overrides the default comparison and the configuration's scorer. */
  readonly scorer?: ScorerName | JudgeScorer
  readonly taskSeed?: number
  /** For synthetic questions; by default all that this machine can score. */
  readonly families?: readonly SyntheticFamily[]
}

/** `TaskSource` as flags. */
export interface TaskOptions extends Omit<TaskSource, 'scorer'> {
  readonly scorer?: ScorerName | 'judge'
  /** The judge's criterion for a right answer. */
  readonly judge?: string
}

export interface OpenedTasks {
  readonly set: TaskSet
  readonly source: TaskSource
  readonly configuration?: Configuration
  /** Decisions made on the user's behalf. */
  readonly notes: readonly string[]
}

const usualSizes = { train: 100, test: 200 }

export function addTaskOptions<Given extends Command>(command: Given): Given {
  return addTaskSourceOptions(
    command.argument(
      '[tasks]',
      `a question file (.jsonl, .csv), \`synthetic\`, or a benchmark (${benchmarkNames.join(', ')}); by default the tasks in magic.config.ts`,
    ),
  )
}

export function addTaskSourceOptions<Given extends Command>(command: Given): Given {
  return command
    .optionsGroup('Tasks:')
    .option('--config <file>', 'configuration file (default: magic.config.* in this folder)')
    .option('--train-size <n>', 'use at most n training questions', wholeNumber(1))
    .option('--test-size <n>', 'use at most n held-out questions', wholeNumber(1))
    .addOption(
      new Option('--study <name>', "use the questions the paper's study selects from a benchmark").choices(
        Object.keys(studySeeds),
      ),
    )
    .option('--data <folder>', 'folder with the benchmark data; see `magic data`')
    .addOption(new Option('--answer <kind>', 'the kind of answers in a question file').choices(answerKinds))
    .addOption(
      new Option('--scorer <name>', 'how to score a question file; by default answers must be equal').choices(
        [...scorerNames, 'judge'],
      ),
    )
    .option('--judge <text>', 'let a model judge answers by this criterion')
    .option('--task-seed <n>', 'seed for selecting or generating questions', wholeNumber(0))
    .optionsGroup('')
}

/** Turns a command's options into a source. Paths become absolute, because a resume may start in another folder. */
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
  // Drops undefined fields from the run's record.
  return JSON.parse(JSON.stringify(source))
}

function scorerOf({ scorer, judge }: TaskOptions): TaskSource['scorer'] {
  if (judge === undefined && scorer !== 'judge') return scorer
  if (!judge?.trim())
    throw new UsageError(
      "Tell the judge what makes an answer right: --judge 'Right if the reply names the refund period.'",
    )
  if (scorer !== undefined && scorer !== 'judge')
    throw new UsageError(`--judge and --scorer ${scorer} exclude each other. Leave one out.`)
  return { judge }
}

const nothingToLearn =
  'Name the tasks: a question file (`magic train questions.jsonl`), `synthetic` or a benchmark. Or set `tasks` in magic.config.ts; `magic init` writes one.'

export async function openTasks(source: TaskSource): Promise<OpenedTasks> {
  const configuration = source.config === undefined ? undefined : await loadConfiguration(source.config)
  const named = source.tasks ?? configuration?.tasks
  if (source.scorer !== undefined && isBuiltInTaskSet(named))
    throw new UsageError(`--scorer is for your own questions; ${named} has its own scorer.`)
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
  // Imported late: other task sets do not need its texts.
  const { syntheticFamilies, syntheticTaskSet } = await import(
    '../../simulator/questions/synthetic-task-set.ts'
  )
  if (source.families !== undefined)
    return { set: syntheticTaskSet({ seed, train, test, families: source.families }), notes: [] }
  // Programming questions need a sandbox. The families are recorded, so that a resume elsewhere has the same questions.
  const found = await sandboxAvailability(new SandboxPool())
  const runsPrograms = !(found instanceof SandboxUnavailable)
  const families = syntheticFamilies.filter((family) => family !== 'code' || runsPrograms)
  const without =
    'Leaving out programming questions: their tests need bubblewrap. `magic doctor` says how to install it.'
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
  // A named file replaces only the configuration's questions; its roles and scoring still apply.
  const set = configuration
    ? await ownTasksOf({ ...configuration, tasks: tasks ?? configuration.tasks }, { answer, scorer, seed })
    : tasks && (await ownTaskSet({ files: tasks, answer, scorer, seed }))
  if (!set) throw new UsageError(nothingToLearn)
  return { set, notes: set.notes }
}

/** The default training method: the paper's for benchmarks, value learning for everything else. */
export function usualMethod({ tasks }: TaskSource, configuration?: Configuration): 'paper' | 'values' {
  const named = tasks ?? configuration?.tasks
  return isBuiltInTaskSet(named) && named !== 'synthetic' ? 'paper' : 'values'
}

/** Keeps the first questions of each split, up to the requested sizes. */
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
