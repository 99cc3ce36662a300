import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { ExperimentStopped, Laboratory } from '../../experiments/laboratory.ts'
import { listedNames } from '../../experiments/listed-condition.ts'
import { type PlannedStep, planExperiment } from '../../experiments/plan.ts'
import { type ExperimentName, experiments, runExperiment } from '../../experiments/run-experiment.ts'
import { sweepSettings } from '../../experiments/settings.ts'
import type { ExperimentDefinition, StudyOptions } from '../../experiments/studies/definition.ts'
import { costOf, type PriceTable, priceOf, priceTableSchema } from '../../models/prices.ts'
import { executionSettings } from '../../settings/execution.ts'
import { knownTasks } from '../../simulator/model/known-task.ts'
import { machineSandbox } from '../../store/run-tools.ts'
import type { TaskSet } from '../../tasks/task-set.ts'
import type { TransportRule } from '../../training/evaluate-graph.ts'
import { tableLines } from '../display/table.ts'
import { exitCodeNote, helpNotes } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import { type EncoderSource, openEncoder } from '../job.ts'
import { concurrencyOption } from '../options/common-options.ts'
import { openExperimentTasks } from '../options/experiment-tasks.ts'
import { addModelOptions, type ModelOptions, modelSource, openChosenModel } from '../options/model-options.ts'
import { flagOf, positiveNumber, wholeNumber } from '../options/option-values.ts'
import { addReportOptions, openProgress, type ReportOptions } from '../options/report-options.ts'
import {
  addBudgetOptions,
  addSetOption,
  type BudgetOptions,
  givenSettings,
  type TrainingOptions,
} from '../options/training-options.ts'
import { printAside, printResult } from '../print.ts'
import { UsageError } from '../problem.ts'
import { type PricedPlan, planLines, totalOf } from '../views/experiment-plan.ts'

interface ExperimentOptions extends ModelOptions, BudgetOptions, ReportOptions, Pick<TrainingOptions, 'set'> {
  readonly tasks?: readonly string[]
  readonly seeds: number
  readonly seed?: number
  readonly out?: string
  readonly from?: string
  readonly data?: string
  readonly trainSize?: number
  readonly testSize?: number
  readonly encoder: EncoderSource
  readonly concurrency?: number
  readonly transportFailures: TransportRule
  readonly routeBudget?: number
  readonly prices?: string
  readonly ledger?: string
  readonly organisations?: readonly string[]
  readonly matchedBudget?: boolean
  readonly penalise: 'tokens' | 'calls' | 'both'
  readonly penalties?: readonly number[]
  readonly dryRun: boolean
}

export function experimentCommand(): Command {
  const command = new Command('experiment')
    .description("Repeat one of the paper's experiments and write its tables and figures.")
    .argument('<name>', Object.keys(experiments).join(', '), experimentName)
    .option('--tasks <names...>', 'benchmarks or question files, separated by commas or spaces', taskNames)
    .option('--seeds <n>', 'repeat with n consecutive seeds', wholeNumber(1), 1)
    .option('--seed <n>', "first seed (default: the paper's)", wholeNumber(0))
    .option('--out <folder>', 'where everything is stored (default: experiments/<name>)')
    .option(
      '--from <path>',
      "d3: a run's trajectories.jsonl; d2: the folder of a D1; q4: the folder of a Q1",
      (path) => resolve(path),
    )
    .option('--data <folder>', 'folder with the benchmark data; see `magic data`')
    .option('--train-size <n>', 'use at most n training questions; tables show the deviation', wholeNumber(1))
    .option('--test-size <n>', 'use at most n held-out questions; tables show the deviation', wholeNumber(1))
    .option(
      '--encoder <which>',
      "text encoder: auto, minilm, lexical, or a folder with MiniLM's files",
      (text): EncoderSource =>
        text === 'auto' || text === 'minilm' || text === 'lexical' ? text : { folder: resolve(text) },
      'auto',
    )
    .option(
      '--route-budget <amount>',
      'q3: spending limit per route, in money or, without a price, in tokens',
      positiveNumber,
    )
    .option('--prices <file>', 'prices of models as JSON; see docs/models.md', (path) => resolve(path))
    .option('--ledger <file>', 'q3: a ledger.sqlite that both routes start from', (path) => resolve(path))
    .option(
      '--organisations <names...>',
      'q1, q4: also measure these systems, separated by commas or spaces; see `magic organisations`',
      organisationList,
    )
    .option('--matched-budget', 'q1, q2, q4: also what the same tokens buy with direct answers and votes')
    .addOption(
      new Option('--penalise <what>', 'sweep: what the policies learn to save')
        .choices(['tokens', 'calls', 'both'])
        .default('tokens'),
    )
    .option('--penalties <weights>', 'sweep: weights per token or per call, separated by commas', weights)
    .addOption(
      new Option(
        '--transport-failures <rule>',
        'if the model is unreachable: score 0 as the paper does, or stop',
      )
        .choices(['zero', 'stop'])
        .default('zero'),
    )
    .option('-n, --dry-run', 'only estimate calls, tokens, cost and time', false)
    .addOption(concurrencyOption())
  addSetOption(command)
  addBudgetOptions(command)
  addModelOptions(command)
  return addReportOptions(command)
    .addHelpText(
      'after',
      helpNotes({
        examples: [
          ['magic experiment q2 --dry-run', 'what it would cost'],
          ['magic experiment q2 --tasks mmlu_pro', 'on the simulated model'],
          ['magic experiment q1 --model deepseek --max-cost 50', 'with a real model and a cap'],
          ['magic experiment q4 --from experiments/q1', "reuses Q1's policies and evaluations"],
          ['magic experiment q1 --organisations dylan,g-designer --matched-budget'],
          ['magic experiment d3 --from runs/first/trajectories.jsonl'],
          ['magic experiment sweep --tasks questions.jsonl --penalise calls --seeds 6'],
        ],
        notes: [
          'Repeat a command to continue where it stopped; finished parts are only read. docs/experiments.md says which table of the paper each experiment makes.',
          exitCodeNote,
        ],
      }),
    )
    .action(experiment)
}

function experimentName(text: string): ExperimentName {
  if (Object.hasOwn(experiments, text)) return text as ExperimentName
  throw new InvalidArgumentError(`Choose from ${Object.keys(experiments).join(', ')}.`)
}

function taskNames(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, ...text.split(',').map((name) => name.trim())]
}

function organisationList(text: string, earlier: readonly string[] = []): string[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !listedNames.includes(name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(
      `There is no organisation '${unknown}'. Choose from ${listedNames.join(', ')}.`,
    )
  return [...earlier, ...names]
}

function weights(text: string): number[] {
  return text.split(',').map(positiveNumber)
}

function pricesIn(file: string | undefined): { readonly prices?: PriceTable } {
  if (file === undefined) return {}
  let content: unknown
  try {
    content = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`Cannot read ${file} as JSON: ${(error as Error).message}`)
  }
  const { data, error } = priceTableSchema.safeParse(content)
  if (error !== undefined)
    throw new UsageError(`${file} is not a valid price table.\n${z.prettifyError(error)}`)
  return { prices: data }
}

function penaltiesOf({ penalise, penalties }: ExperimentOptions): StudyOptions['penalties'] {
  if (penalise === 'both' && penalties !== undefined)
    throw new UsageError('--penalties apply to tokens or to calls. Choose one with --penalise.')
  const { penalties: usual, callPenalties } = sweepSettings
  return {
    ...(penalise === 'calls' ? {} : { tokens: penalties ?? usual.tokens }),
    ...(penalise === 'tokens' ? {} : { calls: penalties ?? callPenalties }),
  }
}

/** Options that only some experiments use. Others reject them instead of ignoring them. */
const ofSome = {
  from: ['d2', 'd3', 'q4'],
  routeBudget: ['q3'],
  ledger: ['q3'],
  penalties: ['sweep'],
  organisations: ['q1', 'q4'],
  matchedBudget: ['q1', 'q2', 'q4', 'sweep'],
} as const satisfies Partial<Record<keyof ExperimentOptions, readonly ExperimentName[]>>

function refuseIdle(name: ExperimentName, options: ExperimentOptions): void {
  for (const [option, having] of Object.entries(ofSome))
    if (options[option as keyof ExperimentOptions] !== undefined && !having.includes(name as never))
      throw new UsageError(`${flagOf(option)} is only for ${having.join(', ')}, not for ${name}.`)
  const { takesSeeds = false }: ExperimentDefinition = experiments[name]
  if (options.seeds > 1 && !takesSeeds)
    throw new UsageError(`${name} runs with one seed. Use --seed instead of --seeds.`)
}

async function experiment(name: ExperimentName, options: ExperimentOptions): Promise<void> {
  const definition: ExperimentDefinition = experiments[name]
  refuseIdle(name, options)
  const { tasks: usual = [], seed: paperSeed = 42 } = definition.settings
  const progress = openProgress(options)
  const say = (text: string) => progress.note(text)
  const { settings: training, execution, budget } = givenSettings(options)
  const first = options.seed ?? paperSeed
  const study: StudyOptions = {
    tasks: options.tasks ?? usual,
    seeds: Array.from({ length: options.seeds }, (_, index) => first + index),
    training,
    from: name === 'q4' ? undefined : options.from,
    organisations: options.organisations,
    matchedBudget: name === 'sweep' || options.matchedBudget,
    penalties: name === 'sweep' ? penaltiesOf(options) : undefined,
  }
  const signal = interruptSignal((text) => say(`${text} Repeat the command to continue.`))
  await using closing = new AsyncDisposableStack()
  closing.defer(() => progress.end())
  const source = modelSource(options)
  const models = new Map<string, Promise<Awaited<ReturnType<typeof openChosenModel>>>>()
  const model = async (set: TaskSet) => {
    // One model per task set, because the simulated one knows only that set's answers.
    const key = JSON.stringify([set.name, set.selection, Object.keys(set.splits)])
    const opening = models.get(key) ?? openChosenModel(options, knownTasks(set), source)
    if (!models.has(key)) closing.defer(async () => (await opening).close())
    models.set(key, opening)
    return (await opening).model
  }
  const lab = new Laboratory({
    folder: resolve(options.out ?? join('experiments', name)),
    earlier: name === 'q4' ? options.from : undefined,
    open: (tasks, study) =>
      openExperimentTasks(tasks, study, options, { model: source, encoder: options.encoder }, say),
    model,
    encoder: await openEncoder(options.encoder, say),
    engine: {
      execution: { ...execution, ...pricesIn(options.prices) },
      sandbox: await machineSandbox(),
      concurrency: options.concurrency,
    },
    transportFailures: options.transportFailures,
    budget,
    signal,
    ledger: options.ledger,
    routeBudget: options.routeBudget,
    ...showing(progress),
  })
  if (options.dryRun) {
    const planned = await priced(await planExperiment(definition, lab, study), definition, lab, study)
    const isSimulated = source.kind === 'simulated'
    printResult(
      options,
      () => ({ experiment: name, ...planned, simulatedLengths: true }),
      (screen) => planLines(planned, isSimulated, screen),
    )
    return
  }
  const { result, files } = await runExperiment(name, lab, study).catch((error: unknown) => {
    if (signal.aborted && error === signal.reason) throw new ExperimentStopped('interrupted')
    throw error
  })
  progress.end()
  printResult(
    options,
    () => result,
    (screen) => [
      ...result.tables
        .filter(({ source }) => source !== 'quoted')
        .slice(0, 3)
        .flatMap(({ title, columns, rows }) => [
          '',
          title,
          tableLines({ columns, rows: rows.map((cells) => cells.map(({ text }) => text)) }, screen),
        ]),
      '',
      ...(result.simulated ? ['Simulated: no language model was called.'] : []),
      ...result.deviations.map((one) => `Deviation: ${one}`),
    ],
  )
  printAside(() => [!options.json && ['', `Reports: ${files.join(', ')} in ${lab.options.folder}`]])
}

/** Shows the current step. */
function showing(progress: ReturnType<typeof openProgress>) {
  let current = ''
  const onStep = (label: string, total: number, done: number) => {
    if (label !== current) progress.start(total, label, done)
    current = label
    progress.update({ done })
  }
  let label = 'training'
  let total = 0
  return {
    onStep,
    onTraining: (event: Parameters<NonNullable<Laboratory['options']['onTraining']>>[0]) => {
      if (event.type === 'start') {
        label = `training ${event.record.name}`
        total = event.record.updates
      }
      if (event.type === 'update') onStep(label, total, event.update + 1)
    },
  }
}

/** Adds costs to planned steps, at the price of the chosen model. */
async function priced(
  steps: readonly PlannedStep[],
  { settings: { study } }: ExperimentDefinition,
  lab: Laboratory,
  { tasks }: StudyOptions,
): Promise<PricedPlan> {
  if (study === undefined || steps.length === 0) return { steps: [] }
  const { identity } = await lab.options.model((await lab.open(tasks[0]!, study)).set)
  const price = priceOf(identity, executionSettings.parse(lab.options.engine.execution ?? {}).prices)
  const withCost = steps.map((step) => ({ ...step, cost: costOf(step, price, new Date()) }))
  return { steps: withCost, total: totalOf(withCost) }
}
