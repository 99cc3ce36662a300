import { type Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import type { Configuration } from '../../configuration/configuration.ts'
import { type BudgetSettings, budgetSettings } from '../../settings/budget.ts'
import {
  type GivenTrainingSettings,
  type PresetName,
  presets,
  trainingSettings,
} from '../../settings/training.ts'
import { UsageError } from '../problem.ts'
import { positiveNumber, wholeNumber } from './option-values.ts'

export interface TrainingOptions {
  readonly preset?: PresetName
  readonly seed?: number
  readonly passes?: number
  readonly updates?: number
  readonly trajectories?: number
  readonly probes?: number
  readonly learningRate?: number
  readonly restriction?: GivenTrainingSettings['restriction']
  readonly finalRewardOnly?: boolean
  readonly initialisationOnly?: boolean
  readonly requestReuse?: boolean
  readonly set?: readonly string[]
}

/** Flags for what is set often; `--set` reaches everything else. */
export function addTrainingOptions(command: Command): Command {
  return command
    .addOption(new Option('--preset <name>', 'settings under a name').choices(Object.keys(presets)))
    .option('--seed <n>', 'seed of weights, draws and probes', wholeNumber(0))
    .option('--passes <n>', 'times that the training questions are gone through', wholeNumber(1))
    .option('--updates <n>', 'stop after so many updates', wholeNumber(1))
    .option('--trajectories <n>', 'graphs built for each question of an update', wholeNumber(2))
    .option('--probes <n>', 'other questions that partial graphs are run on', wholeNumber(0))
    .option('--learning-rate <x>', "Adam's", positiveNumber)
    .addOption(
      new Option('--restriction <space>', 'organisations to build').choices([
        'mixed',
        'all-atomic',
        'all-group',
      ]),
    )
    .option('--final-reward-only', 'ablation: no dense rewards')
    .option('--initialisation-only', 'ablation: keep the untrained policy')
    .option('--no-request-reuse', 'pay for identical requests again')
    .option(
      '--set <setting=value...>',
      'any other training setting, such as rewards.beta=0.05',
      assignment,
      [],
    )
}

/** The preset, then the configuration, then the flags. */
export function givenTraining(
  options: TrainingOptions,
  configuration: Configuration | undefined,
): GivenTrainingSettings {
  const { preset, set = [], requestReuse, ...flags } = options
  const named = presets[preset ?? configuration?.preset ?? 'paper']
  const own = configuration?.training
  const given: Record<string, unknown> = { ...named, ...own }
  // Of its rewards, too, the configuration says only what differs from the preset.
  if ('rewards' in named && own?.rewards !== undefined)
    given['rewards'] = { ...named.rewards, ...own.rewards }
  for (const field of Object.keys(trainingSettings.shape) as (keyof typeof flags)[])
    if (flags[field] !== undefined) given[field] = flags[field]
  // Commander makes it true where the flag is not there.
  if (requestReuse === false) given['requestReuse'] = false
  for (const text of set) assign(given, text)
  const checked = trainingSettings.safeParse(given)
  if (checked.success) return given
  throw new UsageError(`The training settings are not valid.\n${z.prettifyError(checked.error)}`)
}

function assignment(text: string, earlier: readonly string[]): readonly string[] {
  if (!/^[A-Za-z]+(?:\.[A-Za-z0-9]+)?=.+$/.test(text))
    throw new InvalidArgumentError('Write it as setting=value, such as rewards.beta=0.05.')
  return [...earlier, text]
}

function assign(given: Record<string, unknown>, text: string): void {
  const [path, value] = [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]
  const [first, second] = path.split('.') as [string, string | undefined]
  if (second === undefined) given[first] = settingValue(value)
  else given[first] = { ...(given[first] as object | undefined), [second]: settingValue(value) }
}

function settingValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export interface BudgetOptions {
  readonly maxCost?: number
  readonly maxTokens?: number
  readonly maxCalls?: number
  readonly maxMinutes?: number
}

export function addBudgetOptions(command: Command): Command {
  return command
    .option(
      '--max-cost <amount>',
      "stop when so much money is spent, in the currency of the model's price",
      notNegative,
    )
    .option('--max-tokens <n>', 'stop when so many tokens are used', wholeNumber(0))
    .option('--max-calls <n>', 'stop when so many calls are made', wholeNumber(0))
    .option('--max-minutes <n>', 'stop after so much time at work', notNegative)
}

export function givenBudget(
  options: BudgetOptions,
  configuration: Configuration | undefined,
): BudgetSettings {
  const { maxCost, maxTokens, maxCalls, maxMinutes } = options
  return budgetSettings.parse({
    ...configuration?.budget,
    ...(maxCost === undefined ? {} : { cost: maxCost }),
    ...(maxTokens === undefined ? {} : { tokens: maxTokens }),
    ...(maxCalls === undefined ? {} : { calls: maxCalls }),
    ...(maxMinutes === undefined ? {} : { minutes: maxMinutes }),
  })
}

function notNegative(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('It must be a number, 0 or more.')
  return value
}
