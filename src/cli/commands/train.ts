import { basename, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { d1Settings, d3Settings, q1Settings, q2Settings, q3Settings } from '../../experiments/settings.ts'
import { exitCode } from '../../problem.ts'
import { isPostgresAddress } from '../../store/postgres/address.ts'
import { assertRunName, findRun } from '../../store/run-folder.ts'
import { isBenchmarkName } from '../../tasks/benchmarks/list.ts'
import { assertFree } from '../../training/open-run.ts'
import { train } from '../../training/train.ts'
import type { TrainOptions } from '../../training/train-options.ts'
import type { Progress } from '../display/progress.ts'
import { exitCodeNote, NotedCommand } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import { type EncoderSource, type Job, type JobOptions, openEncoder, openJob } from '../job.ts'
import { existingRun, freeFolder } from '../open-run.ts'
import { concurrencyOption, encoderOption, runsDirOption } from '../options/common-options.ts'
import { addModelOptions } from '../options/model-options.ts'
import { chosenLearner, modelsOption, type PoolSource } from '../options/model-pool.ts'
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
  const command = new NotedCommand('train').description(
    'Learn how to organise agents for a task set, and store the policy as a run.',
  )
  addTaskOptions(command)
    .option('--name <run>', 'name of the run (default: task set and time)')
    .option(
      '--ledger <place>',
      "postgres://…: keep the ledger there (default: MAGIC_LEDGER); a run's ledger.sqlite: start with its evaluations",
      (place) => (isPostgresAddress(place) ? place : resolve(place)),
    )
    .option('--learn-from <run...>', 'start with what earlier runs evaluated (value learning only)')
    .addOption(workersOption())
    .option(
      '--organisation <name>',
      'train this system instead of a policy; see `magic organisations`',
      parseOrganisation,
    )
    .option('-n, --dry-run', 'only estimate the cost, like `magic estimate`', false)
  addTrainingOptions(command)
  addBudgetOptions(command)
  addModelOptions(command)
  command.addOption(modelsOption())
  command.addOption(encoderOption()).addOption(concurrencyOption()).addOption(runsDirOption())
  return addReportOptions(command)
    .notes({
      examples: [
        ['magic train questions.jsonl', 'your own questions, on the simulated model'],
        ['magic train', 'the tasks in magic.config.ts'],
        ['magic train gsm8k --model deepseek --max-cost 5', 'a real model, with a cost cap'],
        ['magic train gsm8k --model deepseek --dry-run', 'what that would cost'],
        ['magic train synthetic --method paper --name first', "the paper's method"],
        ['magic train questions.jsonl --learn-from first', "start with another run's evaluations"],
        ['magic train gsm8k --organisation gptswarm:iterations=50', 'another system that learns'],
      ],
      notes: [
        "By default, benchmarks use the paper's method and your own questions use value learning. Choose with --method; a flag that only the paper's method has, such as --updates, selects it too. Flags override the configuration file.",
        'Data, scorer, sandbox, price and model are checked before anything is spent. Ctrl-C stops after the current update or within 5 s; a second Ctrl-C stops at once. Either way, and after a crash, continue with `magic resume`.',
        exitCodeNote,
      ],
    })
    .action((tasks: string | undefined, options: TrainCommandOptions) => startTraining(tasks, options))
}

async function startTraining(tasks: string | undefined, options: TrainCommandOptions): Promise<void> {
  if (options.name !== undefined) assertRunName(options.name)
  const source = taskSource(tasks, options)
  if (options.workers && !isPostgresAddress(options.ledger ?? '')) sharedAddress()
  assertSettingsFit(options)
  if (options.dryRun) return tellEstimate(source, options)
  const progress = openProgress(options)
  const say = (text: string) => progress.note(text)
  await using job = await openJob(source, options, say)
  const { configuration, runs, set } = job
  const usual = freeFolder(join(runs, usualName(set.name, new Date())))
  const folder = findRun(options.name ?? basename(usual), runs)
  await assertFree(folder, false)
  const { learnFrom } = options
  const earlier = learnFrom?.map((name) => existingRun(name, runs).path)
  const encoder = options.encoder ?? configuration?.encoder ?? 'auto'
  const study = studyOf(source)
  if (study !== undefined)
    say(`Study ${source.study} uses seed ${study.seed}; the paper's model was ${study.paperModel}.`)
  const organisation = await chosenLearner(
    options.organisation,
    job.source['models'] as unknown as PoolSource,
  )
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
    // Stored, because a resume must open the same encoder.
    source: { ...job.source, encoder, ...(learnFrom && { learnFrom }) },
    ...(options.workers && { elsewhere: byWorkers(say) }),
    progress,
    json: options.json,
  })
}

/** An address says where to keep the run's ledger; a file holds evaluations to start with. */
function ledgerOptions(place: string | undefined): Pick<TrainOptions, 'ledger' | 'database'> {
  return place !== undefined && isPostgresAddress(place) ? { database: place } : { ledger: place }
}

/** Rejects settings that only policies have. */
function assertSettingsFit(options: TrainCommandOptions): void {
  const { organisation } = options
  if (organisation === undefined) return
  const given = policySettings.filter((name) => options[name] !== undefined)
  if (given.length > 0)
    throw new UsageError(
      `Only policies have ${given.join(', ')}. Write options of ${organisation.name} as ${organisation.name}:option=value.`,
    )
}

const policySettings = [
  ...['preset', 'method', 'passes', 'updates', 'trajectories', 'probes', 'learningRate'],
  ...['restriction', 'evaluations', 'pointsPer1000Tokens', 'maxTokensOfDirect', 'patience', 'learnFrom'],
] as (keyof TrainCommandOptions)[]

/** The study whose seed and settings a benchmark is trained with. */
function studyOf({ tasks, study }: TaskSource) {
  if (study === undefined || tasks === undefined || !isBenchmarkName(tasks)) return undefined
  return studies[study]
}

/** Starts or resumes a training, shows it and sets the exit code. */
export async function runTraining({
  progress,
  json,
  ...options
}: Job & TrainOptions & { readonly progress: Progress; readonly json: boolean }): Promise<void> {
  const { folder, isSimulated, budget: caps = {} } = options
  const view = new TrainingView({ progress, isSimulated, caps, folder })
  const resume = `\`magic resume ${runWord(folder)}\``
  const endTelemetry = await startTelemetry()
  const signal = interruptSignal((text) =>
    view.note(view.hasStarted ? `${text} Either way, continue with ${resume}.` : text),
  )
  try {
    const result = await train({ ...options, onEvent: view.listen, signal }).finally(() => view.end())
    // Separates the result from the progress bar on a terminal.
    if (process.stdout.isTTY && !json) process.stdout.write('\n')
    printTraining({ result, updates: view.updates, isSimulated, caps }, { json })
    process.exitCode = {
      finished: exitCode.done,
      interrupted: exitCode.interrupted,
      'budget-reached': exitCode.capReached,
    }[result.status]
  } catch (error) {
    if (view.hasStarted) view.note(`The run is saved. Fix the problem below, then continue with ${resume}.`)
    if (view.hasStarted || !signal.aborted || error !== signal.reason) throw error
    view.note('Interrupted before the run started; nothing was saved.')
    process.exitCode = exitCode.interrupted
  } finally {
    await endTelemetry()
  }
}

/** `gsm8k-20261116-0930`: sorting by name sorts by time. */
function usualName(taskSet: string, now: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`
  return `${taskSet.slice(0, 40)}-${day}-${two(now.getHours())}${two(now.getMinutes())}`
}
