import { basename, join, resolve } from 'node:path'
import { Command } from 'commander'
import { d1Settings, d3Settings, q1Settings, q2Settings, q3Settings } from '../../experiments/settings.ts'
import type { LearnerSource } from '../../learning/graph-learner.ts'
import { learnerSource } from '../../organisations/learned/learner-source.ts'
import { exitCode } from '../../problem.ts'
import { isPostgresAddress } from '../../store/postgres/address.ts'
import { assertRunName, findRun } from '../../store/run-folder.ts'
import { isBenchmarkName } from '../../tasks/benchmarks/list.ts'
import { assertFree } from '../../training/open-run.ts'
import { train } from '../../training/train.ts'
import type { TrainOptions } from '../../training/train-options.ts'
import type { Progress } from '../display/progress.ts'
import { exitCodeHelp } from '../exit-code.ts'
import { interruptSignal } from '../interrupt.ts'
import { type EncoderSource, type Job, type JobOptions, openEncoder, openJob } from '../job.ts'
import { existingRun, freeFolder } from '../open-run.ts'
import { concurrencyOption, runsDirOption } from '../options/common-options.ts'
import { addModelOptions } from '../options/model-options.ts'
import { type GivenOrganisation, parseOrganisation } from '../options/organisation-option.ts'
import { addReportOptions, openProgress, type ReportOptions } from '../options/report-options.ts'
import {
  addTaskOptions,
  type TaskOptions,
  type TaskSource,
  taskSource,
  usualMethod,
} from '../options/task-options.ts'
import {
  addBudgetOptions,
  addTrainingOptions,
  type BudgetOptions,
  givenSettings,
  type TrainingOptions,
} from '../options/training-options.ts'
import { byWorkers, sharedAddress, workersOption } from '../options/workers-option.ts'
import { UsageError } from '../problem.ts'
import { startTelemetry } from '../telemetry.ts'
import { printTraining, runWord } from '../views/training-summary.ts'
import { TrainingView } from '../views/training-view.ts'
import { tellEstimate } from './estimate.ts'

const studies = { q1: q1Settings, q2: q2Settings, q3: q3Settings, d1: d1Settings, d3: d3Settings }

interface TrainCommandOptions extends TaskOptions, TrainingOptions, BudgetOptions, JobOptions, ReportOptions {
  readonly name?: string
  readonly encoder?: EncoderSource
  readonly dryRun: boolean
  readonly ledger?: string
  readonly learnFrom?: readonly string[]
  readonly workers?: boolean
  readonly organisation?: GivenOrganisation
}

export function trainCommand(): Command {
  const command = new Command('train').description(
    'Learn how to organise agents for a task set, and keep the policy as a run.',
  )
  addTaskOptions(command)
    .option('--name <run>', 'name of the run; by default the task set and the time')
    .option(
      '--ledger <place>',
      "postgres://…: keep the ledger there (MAGIC_LEDGER); a run's ledger.sqlite: begin with its evaluations",
      (place) => (isPostgresAddress(place) ? place : resolve(place)),
    )
    .option('--learn-from <run...>', 'know from the start what earlier runs evaluated; only by values')
    .addOption(workersOption())
    .option(
      '--organisation <name>',
      'train this system instead of a policy, with its options; `magic organisations` lists them',
      parseOrganisation,
    )
    .option('-n, --dry-run', 'only estimate what it would take; see `magic estimate`', false)
  addTrainingOptions(command)
  addBudgetOptions(command)
  addModelOptions(command)
  command
    .option(
      '--encoder <which>',
      "text encoder: auto, minilm, lexical, or the folder of MiniLM's files",
      (text): EncoderSource =>
        text === 'auto' || text === 'minilm' || text === 'lexical' ? text : { folder: resolve(text) },
    )
    .addOption(concurrencyOption())
    .addOption(runsDirOption())
  return addReportOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  magic train questions.jsonl                          your own questions, on the simulated model
  magic train                                          what magic.config.ts says
  magic train synthetic --method paper --name first    by the paper's procedure instead of by values
  magic train questions.jsonl --learn-from first       with all that the run first has paid for on these questions
  magic train gsm8k --model deepseek --max-cost 5      a real model, with a cap on its price
  magic train gsm8k --model deepseek --dry-run         what that would take
  magic train gsm8k --organisation gptswarm:iterations=50   another system that learns

Your own questions are learned from by values, benchmarks by the paper's procedure; --method chooses, and so does a flag
that only the paper's has, such as --updates. Flags override the configuration file. Before anything is spent, data, scorer, sandbox, price and model are checked.
Ctrl-C stops after the current update or within 5 s; a second Ctrl-C stops at once. \`magic resume\` continues either
way, also after a crash.
${exitCodeHelp}`,
    )
    .action((tasks: string | undefined, options: TrainCommandOptions) => startTraining(tasks, options))
}

async function startTraining(tasks: string | undefined, options: TrainCommandOptions): Promise<void> {
  if (options.name !== undefined) assertRunName(options.name)
  const source = taskSource(tasks, options)
  if (options.workers && !isPostgresAddress(options.ledger ?? '')) sharedAddress()
  if (options.dryRun && options.organisation !== undefined)
    throw new UsageError('--dry-run knows policies only. A cap, such as --max-calls, bounds any training.')
  if (options.dryRun) return tellEstimate(source, options)
  const progress = openProgress(options)
  const say = (text: string) => progress.note(text)
  const job = await openJob(source, options, say)
  try {
    const { configuration, runs, set } = job
    const usual = freeFolder(join(runs, usualName(set.name, new Date())))
    const folder = findRun(options.name ?? basename(usual), runs)
    await assertFree(folder, false)
    const { learnFrom } = options
    const earlier = learnFrom?.map((name) => existingRun(name, runs).path)
    const encoder = options.encoder ?? configuration?.encoder ?? 'auto'
    const study = studyOf(source)
    if (study !== undefined)
      say(`The study ${source.study} has seed ${study.seed}; the paper asked ${study.paperModel}.`)
    const organisation = chosenLearner(options)
    const { settings, execution, budget } = givenSettings(options, configuration, {
      method: organisation === undefined ? usualMethod(source, configuration) : 'paper',
      ...study?.training,
      seed: study?.seed,
    })
    await runTraining({
      ...job,
      folder: folder.path,
      settings,
      budget,
      organisation,
      ...ledgerOptions(options.ledger),
      learnFrom: earlier,
      execution: { ...(job.execution as object), ...execution },
      encoder: await openEncoder(encoder, say),
      // A resume must open the same encoder.
      source: { ...job.source, encoder, ...(learnFrom && { learnFrom }) },
      ...(options.workers && { elsewhere: byWorkers(say) }),
      progress,
      json: options.json,
    })
  } finally {
    await job.close()
  }
}

/** An address is where the run's ledger is to be; a file, where its evaluations come from. */
function ledgerOptions(place: string | undefined): Pick<TrainOptions, 'ledger' | 'database'> {
  return place !== undefined && isPostgresAddress(place) ? { database: place } : { ledger: place }
}

/** What `--organisation` names. Settings of policies mean nothing to it. */
function chosenLearner(options: TrainCommandOptions): LearnerSource | undefined {
  const { organisation } = options
  if (organisation === undefined) return undefined
  const given = policySettings.filter((name) => options[name] !== undefined)
  if (given.length > 0)
    throw new UsageError(
      `${given.join(', ')}: only a policy's training has that. What ${organisation.name} can be told is written as in ${organisation.name}:option=value.`,
    )
  return learnerSource(organisation.name, organisation.options)
}

const policySettings = [
  ...['preset', 'method', 'passes', 'updates', 'trajectories', 'probes', 'learningRate'],
  ...['restriction', 'evaluations', 'pointsPer1000Tokens', 'maxTokensOfDirect', 'patience', 'learnFrom'],
] as (keyof TrainCommandOptions)[]

/** A benchmark under a study is trained with the study's seed and settings. */
function studyOf({ tasks, study }: TaskSource) {
  if (study === undefined || tasks === undefined || !isBenchmarkName(tasks)) return undefined
  return studies[study]
}

/** Begins or resumes a training, shows it, and sets the exit code. */
export async function runTraining({
  progress,
  json,
  ...options
}: Job & TrainOptions & { readonly progress: Progress; readonly json: boolean }): Promise<void> {
  const { folder, isSimulated, budget: caps = {} } = options
  const view = new TrainingView({ progress, isSimulated, caps, folder })
  const goOn = `\`magic resume ${runWord(folder)}\` goes on`
  const endTelemetry = await startTelemetry()
  const signal = interruptSignal((text) => view.note(view.hasStarted ? `${text} Either way, ${goOn}.` : text))
  try {
    const result = await train({ ...options, onEvent: view.listen, signal }).finally(() => view.end())
    // Apart from the bar where both are seen.
    if (process.stdout.isTTY && !json) process.stdout.write('\n')
    printTraining({ result, updates: view.updates, isSimulated, caps }, { json })
    process.exitCode = {
      finished: exitCode.done,
      interrupted: exitCode.interrupted,
      'budget-reached': exitCode.capReached,
    }[result.status]
  } catch (error) {
    if (view.hasStarted) view.note(`The run is kept. When the cause below is mended, ${goOn}.`)
    if (view.hasStarted || !signal.aborted || error !== signal.reason) throw error
    view.note('Interrupted before the run began; nothing is kept of it.')
    process.exitCode = exitCode.interrupted
  } finally {
    await endTelemetry()
  }
}

/** `gsm8k-20261116-0930`: sorted by name, runs are sorted by time. */
function usualName(taskSet: string, now: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`
  return `${taskSet.slice(0, 40)}-${day}-${two(now.getHours())}${two(now.getMinutes())}`
}
