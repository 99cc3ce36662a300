import type { Command } from 'commander'
import { runOverview } from '../../evaluation/run-overview.ts'
import { learnerOfRun } from '../../organisations/learned/learner-source.ts'
import { isSimulatedModel } from '../../simulator/model/simulated-name.ts'
import { Budget } from '../../store/budget.ts'
import { assertUnchanged } from '../../store/run-evidence.ts'
import type { RunFolder, RunRecord } from '../../store/run-folder.ts'
import { assertFree } from '../../training/open-run.ts'
import { exitCodeNote, NotedCommand } from '../help-notes.ts'
import { reopenJob } from '../job.ts'
import { encoderOfRun, existingRun } from '../open-run.ts'
import { concurrencyOption, runsDirOption } from '../options/common-options.ts'
import { wholeNumber } from '../options/option-values.ts'
import { addReportOptions, openProgress, type ReportOptions } from '../options/report-options.ts'
import { addBudgetOptions, type BudgetOptions, givenSettings } from '../options/training-options.ts'
import { byWorkers, workersOption } from '../options/workers-option.ts'
import { UsageError } from '../problem.ts'
import { printTraining } from '../views/training-summary.ts'
import { runTraining } from './train.ts'

interface ResumeOptions extends BudgetOptions, ReportOptions {
  readonly fromUpdate?: number
  readonly concurrency?: number
  readonly apiKeyEnv?: string
  readonly apiKeyFile?: string
  readonly runsDir?: string
  readonly workers?: boolean
}

export function resumeCommand(): Command {
  const command = new NotedCommand('resume')
    .description('Resume an interrupted run; the final weights are identical.')
    .argument('<run>', 'name or folder of a run')
    .option('--from-update <n>', 'continue from this checkpoint instead of the newest', wholeNumber(0))
    .addOption(concurrencyOption("the run's"))
    .option('--api-key-env <variable>', 'another environment variable with the key')
    .option('--api-key-file <file>', 'another file with the key (mode 600)')
    .addOption(workersOption())
    .addOption(runsDirOption())
  addBudgetOptions(command)
  return addReportOptions(command)
    .notes({
      examples: [
        ['magic resume first'],
        ['magic resume first --max-cost 10', 'after it stopped at a cap'],
        ['magic resume first --api-key-env SPARE_KEY', 'after a key was revoked'],
        ['magic resume first --from-update 41', 'if the newest checkpoint is damaged'],
      ],
      notes: [
        'Caps count everything the run has used so far, over all its parts. Nothing is paid for twice.',
        exitCodeNote,
      ],
    })
    .action((name: string, options: ResumeOptions) => resume(existingRun(name, options.runsDir), options))
}

async function resume(folder: RunFolder, options: ResumeOptions): Promise<void> {
  const record = folder.readRecord()
  const checkpoints = folder.checkpoints()
  const { fromUpdate } = options
  const newest = checkpoints.at(-1)
  if (fromUpdate === undefined && newest !== undefined && newest >= record.updates) {
    assertUnchanged(folder, newest)
    return tellFinished(folder, record, options)
  }
  if (fromUpdate !== undefined && !checkpoints.includes(fromUpdate))
    throw new UsageError(
      `Run ${record.name} has no checkpoint of update ${fromUpdate}. It has those of updates ${checkpoints.join(' and ')}.`,
    )
  const progress = openProgress(options)
  const say = (text: string) => progress.note(text)
  await assertFree(folder, true)
  await using job = await reopenJob(record, options, say)
  await runTraining({
    ...job,
    folder: folder.path,
    settings: record.training,
    organisation: learnerOfRun(record),
    budget: { ...record.budget, ...givenSettings(options).budget },
    encoder: await encoderOfRun(record, say),
    resume: true,
    ...(options.workers && { elsewhere: byWorkers(say) }),
    progress,
    json: options.json,
    fromUpdate,
  })
}

function tellFinished(
  folder: RunFolder,
  { updates: all, budget, model }: RunRecord,
  options: ResumeOptions,
): void {
  const { updates } = runOverview(folder)
  const spent = updates.at(-1)?.spent ?? new Budget({}, undefined).spent
  if (!options.json) process.stderr.write('The run is finished; there is nothing to resume.\n\n')
  const isSimulated = isSimulatedModel(`${model.provider}/${model.model}`)
  const result = { status: 'finished', folder: folder.path, done: all, updates: all, spent } as const
  printTraining({ result, updates, isSimulated, caps: budget }, options)
}
