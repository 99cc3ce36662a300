import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { type Configuration, loadConfiguration, ownTasksOf } from '../../configuration/configuration.ts'
import type { JsonObject } from '../../library/json-value.ts'
import { SandboxPool } from '../../sandbox/pool.ts'
import { sandboxAvailability } from '../../sandbox/program-sandbox.ts'
import { SandboxUnavailable } from '../../sandbox/unavailable.ts'
import {
  type SyntheticFamily,
  syntheticFamilies,
  syntheticTaskSet,
} from '../../simulator/questions/synthetic-task-set.ts'
import { type BenchmarkName, benchmarkNames } from '../../tasks/benchmarks/list.ts'
import { answerKinds } from '../../tasks/own/answer-kind.ts'
import { ownTaskSet } from '../../tasks/own/own-task-set.ts'
import { isQuestionFile } from '../../tasks/own/question-file.ts'
import { benchmarkTaskSet } from '../../tasks/studies/benchmark-task-set.ts'
import type { Study } from '../../tasks/studies/study.ts'
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
  /** Splits of a benchmark to draw from, instead of the paper's. */
  readonly trainSplit?: string
  readonly testSplit?: string
  readonly answer?: (typeof answerKinds)[number]
  readonly taskSeed?: number
  /** Of the synthetic questions; all that this machine can score by default. */
  readonly families?: readonly SyntheticFamily[]
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
  return command
    .argument(
      '[tasks]',
      `a question file (.jsonl, .csv), \`synthetic\`, or a benchmark (${benchmarkNames.join(', ')}); without it, what magic.config.ts says`,
    )
    .option('--config <file>', 'configuration; magic.config.* of this folder by default')
    .option('--train-size <n>', 'training questions at most', wholeNumber(1))
    .option('--test-size <n>', 'held-out questions at most', wholeNumber(1))
    .addOption(
      new Option('--study <name>', "a benchmark's selection in the paper").choices(['q1', 'q2', 'q3']),
    )
    .option('--train-split <name>', "a benchmark's split to learn from, instead of the paper's")
    .option('--test-split <name>', "a benchmark's split to hold out, instead of the paper's")
    .option('--data <folder>', 'where the benchmarks are; see `magic data`')
    .addOption(new Option('--answer <kind>', 'what the answers of a question file are').choices(answerKinds))
    .option('--task-seed <n>', 'seed of the selection, or of the synthetic questions', wholeNumber(0))
}

/** A command's options as a source. Paths become absolute: a resume may start in another folder. */
export function taskSource(tasks: string | undefined, options: TaskSource): TaskSource {
  if (tasks === undefined && options.config === undefined && !hasConfiguration('.'))
    throw new UsageError(nothingToLearn)
  const { config, trainSize, testSize, study, data, trainSplit, testSplit, answer, taskSeed } = options
  const isFile = tasks !== undefined && !isBuiltIn(tasks)
  return withoutUndefined({
    tasks: isFile ? resolve(tasks) : tasks,
    config: config === undefined ? (tasks === undefined ? resolve('.') : undefined) : resolve(config),
    trainSize,
    testSize,
    study,
    data: data === undefined ? undefined : resolve(data),
    trainSplit,
    testSplit,
    answer,
    taskSeed,
  })
}

export async function openTasks(source: TaskSource): Promise<OpenedTasks> {
  const configuration = source.config === undefined ? undefined : await loadConfiguration(source.config)
  const named = source.tasks ?? (typeof configuration?.tasks === 'string' ? configuration.tasks : undefined)
  const opened = await (named !== undefined && isBuiltIn(named)
    ? openBuiltIn(named, source)
    : openOwn(source, configuration))
  const set = shortened(opened.set, source)
  const { notes, families } = opened
  return { set, notes, configuration, source: families === undefined ? source : { ...source, families } }
}

/** A run's record keeps the source: what was not given leaves no field there. */
function withoutUndefined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
}

const nothingToLearn =
  'Say what to learn: a question file (`magic train questions.jsonl`), `synthetic` or a benchmark; or set `tasks` in magic.config.ts (`magic init` writes one).'

function hasConfiguration(folder: string): boolean {
  return readdirSync(folder).some((name) => name.startsWith('magic.config.'))
}

function isBuiltIn(tasks: string): boolean {
  return tasks === 'synthetic' || (benchmarkNames as readonly string[]).includes(tasks)
}

interface Opened {
  readonly set: TaskSet
  /** Chosen by what this machine can run; recorded, so that a resume elsewhere has the same questions. */
  readonly families?: readonly SyntheticFamily[]
  readonly notes: readonly string[]
}

async function openBuiltIn(name: string, source: TaskSource): Promise<Opened> {
  const { trainSize, testSize, taskSeed, study, data, trainSplit, testSplit } = source
  if (name === 'synthetic') return openSynthetic(source)
  const set = await benchmarkTaskSet(
    name as BenchmarkName,
    withoutUndefined({
      data,
      study,
      seed: taskSeed,
      train: trainSize,
      test: testSize,
      split: trainSplit || testSplit ? withoutUndefined({ train: trainSplit, test: testSplit }) : undefined,
    }),
  )
  const { deviation } = set.selection
  return { set, notes: typeof deviation === 'string' ? [deviation] : [] }
}

async function openSynthetic({
  trainSize,
  testSize,
  taskSeed,
  families: given,
}: TaskSource): Promise<Opened> {
  const families = given ?? (await scorableFamilies())
  const set = syntheticTaskSet({
    seed: taskSeed ?? 0,
    train: trainSize ?? usualSizes.train,
    test: testSize ?? usualSizes.test,
    families,
  })
  const without =
    'Without bubblewrap the programming questions are left out: their tests could not be run. `magic doctor` says how to get it.'
  return {
    set,
    families,
    notes: given === undefined && families.length < syntheticFamilies.length ? [without] : [],
  }
}

/** Programs can only be asked for where they can be run. */
async function scorableFamilies(): Promise<readonly SyntheticFamily[]> {
  const found = await sandboxAvailability(new SandboxPool())
  return syntheticFamilies.filter((family) => family !== 'code' || !(found instanceof SandboxUnavailable))
}

async function openOwn(source: TaskSource, configuration: Configuration | undefined): Promise<Opened> {
  const { tasks, answer, taskSeed } = source
  if (tasks !== undefined && !isQuestionFile(tasks))
    throw new UsageError(
      `'${tasks}' is neither a question file (.jsonl, .csv) nor one of synthetic, ${benchmarkNames.join(', ')}.`,
    )
  const flags = withoutUndefined({ answer, seed: taskSeed })
  // A named file replaces only the configuration's questions: roles and scoring stay.
  const set = configuration
    ? await ownTasksOf({ ...configuration, tasks: tasks ?? configuration.tasks }, flags)
    : tasks && (await ownTaskSet({ files: tasks, ...flags }))
  if (!set) throw new UsageError(nothingToLearn)
  return { set, notes: set.notes }
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
