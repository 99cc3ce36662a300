import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { assertRunName, findRun } from '../../store/run-folder.ts'
import { exitCodeHelp } from '../exit-code.ts'
import { type JobOptions, openEncoder, openJob } from '../job.ts'
import { concurrencyOption, runsDirOption } from '../options/common-options.ts'
import { addEncoderOption, type EncoderOption, givenEncoder } from '../options/encoder-option.ts'
import { addModelOptions } from '../options/model-options.ts'
import { addTaskOptions, type TaskSource, taskSource } from '../options/task-options.ts'
import {
  addBudgetOptions,
  addTrainingOptions,
  type BudgetOptions,
  givenBudget,
  givenExecution,
  givenTraining,
  type TrainingOptions,
} from '../options/training-options.ts'
import {
  addReportOptions,
  assertFree,
  openProgress,
  type ReportOptions,
  runTraining,
} from '../run-training.ts'
import { tellEstimate } from './estimate.ts'

interface TrainOptions
  extends TaskSource,
    TrainingOptions,
    BudgetOptions,
    EncoderOption,
    JobOptions,
    ReportOptions {
  readonly name?: string
  readonly dryRun: boolean
}

export function trainCommand(): Command {
  const command = new Command('train').description(
    'Learn how to organise agents for a task set, and keep the policy as a run.',
  )
  addTaskOptions(command)
    .option('--name <run>', 'name of the run; by default the task set and the time')
    .option('-n, --dry-run', 'only estimate what it would take; see `magic estimate`', false)
  addTrainingOptions(command)
  addBudgetOptions(command)
  addModelOptions(command)
  addEncoderOption(command).addOption(concurrencyOption()).addOption(runsDirOption())
  return addReportOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  magic train questions.jsonl                          your own questions, on the simulated model
  magic train                                          what magic.config.ts says
  magic train synthetic --preset demo --passes 2 --name first
  magic train gsm8k --model deepseek --max-cost 5      a real model, with a cap on its price
  magic train gsm8k --model deepseek --dry-run         what that would take

Flags override the configuration file. Before anything is spent, data, scorer, sandbox, price and model are checked.
Ctrl-C stops after the current update or within 5 s; a second Ctrl-C stops at once. \`magic resume\` continues either
way, also after a crash.
${exitCodeHelp}`,
    )
    .action((tasks: string | undefined, options: TrainOptions) => startTraining(tasks, options))
}

async function startTraining(tasks: string | undefined, options: TrainOptions): Promise<void> {
  if (options.name !== undefined) assertRunName(options.name)
  const source = taskSource(tasks, options)
  if (options.dryRun) return tellEstimate(source, options)
  const progress = openProgress(options)
  const say = (text: string) => progress.note(text)
  const job = await openJob(source, options, say)
  try {
    const { configuration, runs, set } = job
    const settings = givenTraining(options, configuration)
    const budget = givenBudget(options, configuration)
    const name = options.name ?? freeName(set.name, runs, new Date())
    const { path: folder } = findRun(name, runs)
    await assertFree(folder, false)
    const choice = givenEncoder(options, configuration)
    const encoder = await openEncoder(choice, say)
    // A resume must open the same encoder.
    const recorded = { ...job.source, encoder: choice }
    const { json } = options
    const execution = { ...(job.execution as object), ...givenExecution(options, configuration) }
    await runTraining(
      { ...job, execution },
      { folder, settings, budget, encoder, source: recorded, progress, json },
    )
  } finally {
    await job.close()
  }
}

/** `gsm8k-20261116-0930`, with `-2`, `-3` if that exists. Sorted by name, runs are sorted by time. */
function freeName(taskSet: string, runs: string, now: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`
  const name = `${taskSet.slice(0, 40)}-${day}-${two(now.getHours())}${two(now.getMinutes())}`
  let free = name
  for (let number = 2; existsSync(join(runs, free)); number += 1) free = `${name}-${number}`
  return free
}
