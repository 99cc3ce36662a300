import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { ExperimentStopped, Laboratory } from '../../experiments/laboratory.ts'
import { type PlannedStep, planExperiment } from '../../experiments/plan.ts'
import { type ExperimentName, experiments, runExperiment } from '../../experiments/run-experiment.ts'
import type { ExperimentDefinition, StudyOptions } from '../../experiments/studies/definition.ts'
import { costOf, priceOf } from '../../models/prices.ts'
import { executionSettings } from '../../settings/execution.ts'
import { knownTasks } from '../../simulator/model/known-task.ts'
import { machineSandbox } from '../../store/run-tools.ts'
import type { TaskSet } from '../../tasks/task-set.ts'
import { tableLines } from '../display/table.ts'
import { exitCodeNote, NotedCommand } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import { openEncoder } from '../job.ts'
import {
  addExperimentOptions,
  assertUsed,
  type ExperimentOptions,
  experimentName,
  penaltiesOf,
  pricesIn,
} from '../options/experiment-options.ts'
import { openExperimentTasks } from '../options/experiment-tasks.ts'
import { addModelOptions, modelSource, openChosenModel } from '../options/model-options.ts'
import { addReportOptions, openProgress } from '../options/report-options.ts'
import { addBudgetOptions, addSetOption, givenSettings } from '../options/training-options.ts'
import { printAside, printResult } from '../print.ts'
import { type PricedPlan, planLines, totalOf } from '../views/experiment-plan.ts'

export function experimentCommand(): Command {
  const command = new NotedCommand('experiment')
    .description("Repeat one of the paper's experiments and write its tables and figures.")
    .argument('<name>', Object.keys(experiments).join(', '), experimentName)
  addExperimentOptions(command)
  addSetOption(command)
  addBudgetOptions(command)
  addModelOptions(command)
  return addReportOptions(command)
    .notes({
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
    })
    .action(experiment)
}

async function experiment(name: ExperimentName, options: ExperimentOptions): Promise<void> {
  const definition: ExperimentDefinition = experiments[name]
  assertUsed(name, options)
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
    if (!models.has(key)) closing.defer(async () => (await opening)[Symbol.asyncDispose]())
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
    printResult(options, { experiment: name, ...planned, simulatedLengths: true }, (screen) =>
      planLines(planned, isSimulated, screen),
    )
    return
  }
  const { result, files } = await runExperiment(name, lab, study).catch((error: unknown) => {
    if (signal.aborted && error === signal.reason) throw new ExperimentStopped('interrupted')
    throw error
  })
  progress.end()
  printResult(options, result, (screen) => [
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
  ])
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
