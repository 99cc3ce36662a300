import { basename } from 'node:path'
import { chooseEncoder } from '../encoder/choose-encoder.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { openToolbox } from '../execution/toolbox.ts'
import { CallLimit } from '../models/call-limit.ts'
import { type Price, priceOf } from '../models/prices.ts'
import { budgetSettings } from '../settings/budget.ts'
import { defaultConcurrency, executionSettings } from '../settings/execution.ts'
import { trainingSettings } from '../settings/training.ts'
import { Budget, type Spent } from '../store/budget.ts'
import type { RunFolder } from '../store/run-folder.ts'
import { sandboxOfRun } from '../store/run-tools.ts'
import type { ExecutorParts } from '../tasks/task-executor.ts'
import { splitOf } from '../tasks/task-set.ts'
import type { BegunRun } from './describe-run.ts'
import { selfCheck } from './self-check.ts'
import type { TrainOptions } from './train-options.ts'

export interface PreparedRun extends BegunRun {
  readonly folder: RunFolder
}

/** Chooses everything that was left open. Nothing is written yet. */
export async function prepareRun(folder: RunFolder, options: TrainOptions): Promise<PreparedRun> {
  const { set, model, concurrency = defaultConcurrency, clock, source } = options
  const settings = trainingSettings.parse(options.settings ?? {})
  const say = (text: string) => options.onEvent?.({ type: 'note', text })
  const begun = options.resume === true ? folder.readRecord() : undefined
  const sandbox = options.sandbox === undefined ? await sandboxOfRun(begun?.tools) : options.sandbox
  const encoder = options.encoder ?? (await chosenEncoder(say))
  const all = splitOf(set, 'train').tasks.length * settings.passes
  return {
    folder,
    name: basename(folder.path),
    parts: {
      set,
      model,
      tools: openToolbox(sandbox, options.tools),
      settings: executionSettings.parse(options.execution ?? {}),
      limit: new CallLimit(concurrency),
      clock,
    },
    settings,
    budget: budgetSettings.parse(options.budget ?? {}),
    encoder,
    updates: settings.initialisationOnly ? 0 : Math.min(all, settings.updates ?? all),
    source,
  }
}

async function chosenEncoder(say: (text: string) => void): Promise<FrozenTextEncoder> {
  const { encoder, message } = await chooseEncoder({ onProblem: say })
  say(message)
  return encoder
}

/** Checks a new run before anything is spent on it; gives what the checks themselves have spent. */
export async function checkRun(
  { parts, budget }: PreparedRun,
  { signal, onEvent }: TrainOptions,
): Promise<Spent> {
  const meter = new Budget({}, priceIn(parts))
  for await (const check of selfCheck({ parts: { ...parts, meter }, budget, signal }))
    onEvent?.({ type: 'check', ...check })
  return meter.spent
}

export function priceIn({ model, settings }: ExecutorParts): Price | undefined {
  return priceOf(model.identity, settings.prices)
}
