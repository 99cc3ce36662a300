import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { isBuiltInTaskSet } from '../../configuration/configuration-schema.ts'
import type { NamedOrganisation } from '../../organisations/open-organisation.ts'
import { writeWhole } from '../../store/durable-file.ts'
import { defaultRunsFolder, findRun, type RunFolder } from '../../store/run-folder.ts'
import { isQuestionFile } from '../../tasks/own/question-file.ts'
import { beginUntrained } from '../../training/begin-untrained.ts'
import type { TransportRule } from '../../training/evaluate-graph.ts'
import { evaluateAll } from '../evaluate-all.ts'
import { exitCodeNote, NotedCommand } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import { type JobOptions, openEncoder, openJob, reopenJob } from '../job.ts'
import { encoderOfRun, existingRun } from '../open-run.ts'
import {
  checkpointOption,
  concurrencyOption,
  drawSeedOption,
  runsDirOption,
} from '../options/common-options.ts'
import {
  addInterventionOptions,
  givenInterventions,
  type InterventionOptions,
} from '../options/intervention-options.ts'
import { addModelOptions } from '../options/model-options.ts'
import { modelsOption } from '../options/model-pool.ts'
import { wholeNumber } from '../options/option-values.ts'
import {
  type GivenOrganisation,
  isGraphFile,
  openGraphFile,
  organisationOption,
  parseOrganisation,
} from '../options/organisation-option.ts'
import { addReportOptions, openProgress, type ReportOptions } from '../options/report-options.ts'
import { addTaskSourceOptions, type TaskOptions, taskSource } from '../options/task-options.ts'
import { addBudgetOptions, type BudgetOptions, givenSettings } from '../options/training-options.ts'
import { sharedAddress, workersOption } from '../options/workers-option.ts'
import { UsageError } from '../problem.ts'
import { startTelemetry } from '../telemetry.ts'
import { githubSummary, junitXml, writeGithubSummary } from '../views/ci-report.ts'
import { printEvaluations } from '../views/evaluation-outcome.ts'
import { tellEvaluationPlan } from './eval-plan.ts'

export interface EvalOptions
  extends JobOptions,
    BudgetOptions,
    ReportOptions,
    TaskOptions,
    InterventionOptions {
  readonly name?: string
  readonly split: string
  readonly organisation?: readonly GivenOrganisation[]
  readonly limit?: number
  readonly seed?: number
  readonly threshold?: number
  readonly update?: number
  readonly junit?: string
  readonly githubSummary: boolean
  readonly workers?: boolean
  readonly matched: boolean
  readonly dryRun: boolean
  readonly transportFailures: TransportRule
}

export function evalCommand(): Command {
  const command = new NotedCommand('eval')
    .description("Score a run's policy and other organisations on held-out questions.")
    .argument('<run>', 'name or folder of a run; or tasks, to evaluate organisations that need no training')
    .option('--name <run>', 'with tasks: the run to store the records in (default: <tasks>-organisations)')
    .option('--split <name>', 'questions to evaluate on', 'test')
    .addOption(organisationOption())
    .option('--limit <n>', 'only the first n questions', wholeNumber(1))
    .option('-n, --dry-run', 'only estimate calls, tokens and cost', false)
    .option('--matched', 'also self-consistency with as many votes as the same tokens buy', false)
    .addOption(drawSeedOption())
    .option('--threshold <x>', 'exit with 4 if the first score is below x, such as 0.6 or 60%', share)
    .option('--junit <file>', 'also write JUnit XML: a question without full score fails')
    .option('--github-summary', "also add the table to the GitHub job's summary", false)
    .addOption(
      new Option(
        '--transport-failures <rule>',
        'if the model is unreachable: stop, or score 0 as the paper does',
      )
        .choices(['stop', 'zero'])
        .default('stop'),
    )
    .addOption(checkpointOption())
    .addOption(workersOption())
    .addOption(concurrencyOption("the run's"))
    .addOption(runsDirOption())
  addInterventionOptions(command)
  addTaskSourceOptions(command)
  addBudgetOptions(command)
  addModelOptions(command, 'of run')
  command.addOption(modelsOption())
  return addReportOptions(command)
    .notes({
      examples: [
        ['magic eval first', 'the trained policy'],
        ['magic eval first --organisation trained,searched', 'was the training worth it?'],
        ['magic eval first --organisation trained,untrained,direct,chain --limit 100'],
        ['magic eval first --organisation trained,llm-debate,dylan,self-consistency:answers=3'],
        ['magic eval first --organisation graph:examples/graph.json', 'your own graph'],
        ['magic eval first --organisation trained --corrupt-message 0.2 --seed 1'],
        ['magic eval synthetic --organisation direct,llm-debate', 'tasks, without a run'],
        ['magic eval first --organisation dylan,verimap --dry-run', 'what that would cost'],
        ['magic eval first --threshold 0.7 --max-cost 2', 'for CI: exits with 4 below 70 %'],
        ['magic eval first --junit scores.xml --github-summary', 'for CI: test report and summary'],
      ],
      notes: [
        'Every call is new; nothing is reused from training. A question without a valid answer scores 0.',
        '`searched` is the best fixed graph that successive halving finds on the training questions, with as many graph evaluations as the training paid for. It costs as much as the training did, minus what the ledger already has. `most-probable` takes the likeliest choice at every step. `shuffled` gives each question the graph built for another. `atomic-at-use` and `group-at-use` restrict the trained policy to single agents or to groups; to train a policy that way, use `magic train --restriction`.',
        '`magic organisations` lists all systems and their options. Interventions disturb every organisation the same way for the same --seed; their results are stored separately.',
        'Caps hold for all organisations together, including the search. Records are stored with the run: repeat the command to continue after a cap or Ctrl-C, and compare them with `magic compare`.',
        exitCodeNote,
      ],
    })
    .action(evaluateRun)
}

function share(text: string): number {
  const value = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('Give a number from 0 to 1, or from 0% to 100%.')
  return value
}

async function evaluateRun(name: string, options: EvalOptions): Promise<void> {
  // Fails now, before anything is spent.
  if (options.githubSummary) writeGithubSummary('')
  if (options.junit !== undefined && !existsSync(dirname(options.junit)))
    throw new UsageError(`--junit: there is no folder ${dirname(options.junit)}. Create it first.`)
  if (options.workers) sharedAddress()
  if (options.dryRun) return tellPlan(name, options)
  const progress = openProgress(options)
  const say = (text: string) => progress.note(text)
  const folder = findTasks(name, options)
    ? await folderFor(name, options, say)
    : existingRun(name, options.runsDir)
  const run = folder.readRecord()
  const signal = interruptSignal((text) => say(`${text} Repeat the command to continue.`))
  await using closing = new AsyncDisposableStack()
  closing.defer(await startTelemetry())
  const job = closing.use(await reopenJob(run, options, say))
  closing.defer(() => progress.end())
  const organisations = organisationsToEvaluate(folder, options)
  const library = folder.readLibrary(run)
  const graphs = new Map<string, NamedOrganisation>()
  for (const { name } of organisations)
    if (isGraphFile(name)) graphs.set(name, await openGraphFile(name, library))
  const outcome = await evaluateAll({
    ...{ job, folder, organisations, graphs, progress, signal, options },
    openOwnJob: async () => closing.use(await reopenJob(run, { ...options, workers: false }, say)),
    encoder: await encoderOfRun(run, say),
    interventions: givenInterventions(options, library),
    budget: givenSettings(options, job.configuration).budget,
  })
  const { evaluated } = outcome
  if (options.junit !== undefined) writeWhole(options.junit, junitXml(run.name, evaluated))
  if (options.githubSummary) writeGithubSummary(githubSummary(run.name, evaluated, job.isSimulated))
  process.exitCode = printEvaluations(outcome, job, folder, options)
}

/** The trained policy, unless others are named; without a training, a direct answer. */
function organisationsToEvaluate(
  folder: RunFolder | undefined,
  { organisation }: EvalOptions,
): readonly GivenOrganisation[] {
  const usual = (folder?.checkpoints().at(-1) ?? 0) === 0 ? 'direct' : 'trained'
  return organisation ?? [parseOrganisation(usual)]
}

async function tellPlan(name: string, options: EvalOptions): Promise<void> {
  const folder = findTasks(name, options) ? undefined : existingRun(name, options.runsDir)
  return tellEvaluationPlan(folder ?? name, organisationsToEvaluate(folder, options), options)
}

/** True if the name means tasks (a file, or a built-in set) and no run is called that. */
function findTasks(name: string, { runsDir }: EvalOptions): boolean {
  if (findRun(name, runsDir ?? defaultRunsFolder()).exists) return false
  return isBuiltInTaskSet(name) || isQuestionFile(name)
}

/** The run that stores evaluations on these tasks: an existing one for the same tasks, or a new one. */
async function folderFor(
  name: string,
  options: EvalOptions,
  say: (text: string) => void,
): Promise<RunFolder> {
  const source = taskSource(name, options)
  await using job = await openJob(source, options, say)
  const { set, configuration, runs } = job
  const folder = findRun(options.name ?? `${set.name}-organisations`.toLowerCase(), runs)
  if (folder.exists) {
    if (isDeepStrictEqual(folder.readRecord().source?.['tasks'], job.source['tasks'])) return folder
    throw new UsageError(
      `${folder.path} holds evaluations on other tasks, or on another selection of them. Choose another --name.`,
    )
  }
  const { execution, settings } = givenSettings(options, configuration)
  const encoder = configuration?.encoder ?? 'auto'
  return await beginUntrained({
    ...job,
    folder: folder.path,
    settings: { seed: settings.seed },
    execution: { ...(job.execution as object), ...execution },
    encoder: await openEncoder(encoder, say),
    source: { ...job.source, encoder },
  })
}
