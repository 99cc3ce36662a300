import { z } from 'zod'
import { budgetSettings } from './budget.ts'
import { concurrencySetting, executionSettings } from './execution.ts'
import { type Setting, settingsOf } from './setting.ts'
import { trainingSettings } from './training.ts'

/** All settings of a run, by group. Prices are left out, since they belong to the model. */
export const runSettings = {
  training: trainingSettings,
  execution: executionSettings.omit({ prices: true }),
  budget: budgetSettings,
  concurrency: concurrencySetting,
}

const { training, execution, budget } = runSettings

/**
 * What `--set` accepts, by key: training settings without a prefix, the others with their group, such as
 * `execution.toolSeconds`.
 */
export const settable: ReadonlyMap<string, Setting> = new Map(
  [...settingsOf(training), ...settingsOf(z.strictObject({ execution, budget }))].map((setting) => [
    setting.key,
    setting,
  ]),
)
