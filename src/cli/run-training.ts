import { existsSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { JsonObject } from '../library/json-value.ts'
import { exitCode } from '../problem.ts'
import type { BudgetSettings } from '../settings/budget.ts'
import type { GivenTrainingSettings } from '../settings/training.ts'
import { RunFolder } from '../store/run-folder.ts'
import { RunLock } from '../store/run-lock.ts'
import { train } from '../training/train.ts'
import { chooseDisplay, type Display, displays } from './display/choose-display.ts'
import { Progress } from './display/progress.ts'
import { screenOf } from './display/screen.ts'
import { jsonText } from './display/terminal-text.ts'
import { interruptSignal } from './interrupt.ts'
import type { Job } from './job.ts'
import { jsonOption } from './options/common-options.ts'
import { UsageError } from './problem.ts'
import { startTelemetry } from './telemetry.ts'
import { runWord, trainingJson, trainingText } from './views/training-summary.ts'
import { TrainingView } from './views/training-view.ts'

/** How a command that works for a while shows itself and its result. */
export interface ReportOptions {
  readonly display?: Display
  readonly json: boolean
}

export function addReportOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--display <face>',
        'progress on standard error; live on a terminal, plain elsewhere',
      ).choices(displays),
    )
    .addOption(jsonOption('the result as one JSON object'))
}

export function openProgress({ display }: ReportOptions): Progress {
  return new Progress({ display: chooseDisplay(display, process.stderr) })
}

/** Begins a run or goes on with one, shows it, and sets the exit code. */
export async function runTraining(
  job: Job,
  options: {
    readonly progress: Progress
    readonly json: boolean
    readonly folder: string
    readonly settings: GivenTrainingSettings
    readonly budget: BudgetSettings
    readonly encoder: FrozenTextEncoder
    readonly source: JsonObject
    readonly resume?: boolean
    readonly fromUpdate?: number
  },
): Promise<void> {
  const { folder, settings, budget, encoder, source, resume = false, fromUpdate } = options
  const view = new TrainingView({
    progress: options.progress,
    isSimulated: job.isSimulated,
    caps: budget,
    folder,
  })
  const goOn = `\`magic resume ${runWord(folder)}\` goes on`
  const endTelemetry = await startTelemetry()
  try {
    const signal = interruptSignal((text) =>
      view.note(view.hasStarted ? `${text} Either way, ${goOn}.` : text),
    )
    const { set, model, execution, sandbox, tools, concurrency } = job
    try {
      const result = await train({
        set,
        model,
        folder,
        settings,
        budget,
        concurrency,
        execution,
        encoder,
        sandbox,
        tools,
        resume,
        fromUpdate,
        source,
        onEvent: view.listen,
        signal,
      }).finally(() => view.end())
      const finished = { result, tally: view.tally, isSimulated: job.isSimulated, caps: budget }
      // Apart from the bar where both are seen.
      if (process.stdout.isTTY && !options.json) process.stdout.write('\n')
      process.stdout.write(
        options.json
          ? `${jsonText(trainingJson(finished))}\n`
          : trainingText(finished, screenOf(process.stdout)),
      )
      process.exitCode = {
        finished: exitCode.done,
        interrupted: exitCode.interrupted,
        'budget-reached': exitCode.capReached,
      }[result.status]
    } catch (error) {
      if (view.hasStarted) view.note(`The run is kept. When the cause below is mended, ${goOn}.`)
      else if (signal.aborted && error === signal.reason) {
        view.note('Interrupted before the run began; nothing is kept of it.')
        process.exitCode = exitCode.interrupted
        return
      }
      throw error
    }
  } finally {
    await endTelemetry()
  }
}

/** Refuses early, before an encoder is downloaded; `train` checks again when it takes the folder. */
export async function assertFree(folder: string, isResumed: boolean): Promise<void> {
  if (!existsSync(folder)) return
  const lock = await RunLock.acquire(folder)
  lock.release()
  if (!isResumed && new RunFolder(folder).exists)
    throw new UsageError(
      `There is a run ${folder} already. \`magic resume ${runWord(folder)}\` goes on with it; --name gives the new one another name.`,
    )
}
