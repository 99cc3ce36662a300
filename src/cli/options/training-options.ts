import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Configuration } from '../../configuration/configuration.ts'
import { type BudgetSettings, budgetSettings } from '../../settings/budget.ts'
import { settable } from '../../settings/run-settings.ts'
import { allowedText, settingsOf } from '../../settings/setting.ts'
import { type GivenTrainingSettings, type TrainingPreset, trainingPresets } from '../../settings/training.ts'
import { didYouMean } from '../../tasks/own/nearest-name.ts'
import { UsageError } from '../problem.ts'
import { readValue } from './option-values.ts'
import { settingOption } from './setting-option.ts'

/** Training settings that have their own flag; `--set` reaches all others. */
const flagged = [
  'method',
  'seed',
  'passes',
  'updates',
  'trajectories',
  'probes',
  'learningRate',
  'restriction',
  'finalRewardOnly',
  'initialisationOnly',
  'requestReuse',
  'evaluations',
  'pointsPer1000Tokens',
  'maxTokensOfDirect',
  'patience',
] as const satisfies readonly (keyof GivenTrainingSettings)[]

/** Settings that only the paper's method has. Giving one without a method selects that method. */
const ofPaper = [
  'passes',
  'updates',
  'trajectories',
  'probes',
  'finalRewardOnly',
] as const satisfies readonly (keyof GivenTrainingSettings)[]

export interface TrainingOptions extends Pick<GivenTrainingSettings, (typeof flagged)[number]> {
  readonly preset?: TrainingPreset
  /** Nested like the keys of the settings. */
  readonly set?: Settings
}

type Settings = Readonly<Record<string, unknown>>

export function addTrainingOptions<Given extends Command>(command: Given): Given {
  command
    .optionsGroup('Training:')
    .addOption(
      new Option('--preset <name>', 'a named set of settings; flags override it').choices(
        Object.keys(trainingPresets),
      ),
    )
  for (const name of flagged) command.addOption(settingOption(settable.get(name)!))
  return addSetOption(command)
}

export function addSetOption<Given extends Command>(command: Given): Given {
  return (
    command
      .option(
        '--set [setting=value...]',
        'any setting, such as rewards.beta=0.05; `--set` alone lists all of them',
        assignment,
      )
      .optionsGroup('')
      // Commander passes `true` for a flag without a value.
      .hook('preAction', () => {
        if (command.opts()['set'] === true)
          throw new UsageError(`Settings for --set (docs/settings.md explains them):\n${settingLines()}`)
      })
  )
}

export type BudgetOptions = { readonly [Cap in keyof BudgetSettings as `max${Capitalize<Cap>}`]?: number }

export function addBudgetOptions<Given extends Command>(command: Given): Given {
  command.optionsGroup('Budget:')
  for (const setting of settingsOf(budgetSettings))
    command.addOption(settingOption(setting, capName(setting.key)))
  return command.optionsGroup('')
}

/** Later ones override earlier ones: preset (by default the method's), configuration, flags, `--set`. */
export function givenSettings(
  { preset, set = {}, ...options }: TrainingOptions & BudgetOptions,
  configuration?: Configuration,
  /** Defaults of these tasks: the method, and what a study sets. */
  usual: GivenTrainingSettings = {},
): {
  readonly settings: GivenTrainingSettings
  readonly execution: Settings
  readonly budget: BudgetSettings
} {
  const given = flagged.filter((name) => {
    const { type, default: usual } = settable.get(name)!
    // Commander passes `true` if a `--no-` flag is absent.
    return options[name] !== undefined && !(type === 'switch' && options[name] === usual)
  })
  const caps = Object.keys(budgetSettings.shape).flatMap((cap) => {
    const value = options[capName(cap) as keyof BudgetOptions]
    return value === undefined ? [] : [[cap, value]]
  })
  const own = merged(
    configuration?.training ?? {},
    { execution: configuration?.execution ?? {}, budget: configuration?.budget ?? {} },
    Object.fromEntries(given.map((name) => [name, options[name]])),
    { budget: Object.fromEntries(caps) },
    set,
  )
  const { method = 'paper', ...others } = usual
  const papers = ofPaper.filter((name) => own[name] !== undefined)
  if (own['method'] === 'values' && papers.length > 0)
    throw new UsageError(
      `Only the paper's method has ${papers.join(', ')}. Leave it out, or add --method paper. With value learning, --evaluations limits how much is paid for.`,
    )
  const meant = own['method'] ?? (papers.length > 0 ? 'paper' : method)
  const { execution, budget, ...settings } = merged(
    { execution: {}, budget: {} },
    others,
    trainingPresets[preset ?? configuration?.preset ?? (meant as TrainingPreset)],
    own,
  )
  return { settings, execution: execution as Settings, budget: budget as BudgetSettings }
}

function capName(cap: string): string {
  return `max${cap[0]!.toUpperCase()}${cap.slice(1)}`
}

/** Adds one `--set` to the earlier ones. */
function assignment(text: string, earlier: Settings = {}): Settings {
  const split = text.indexOf('=')
  if (split < 1) throw new InvalidArgumentError('Write setting=value, such as rewards.beta=0.05.')
  // In a configuration these are under `training`; here the prefix may be left out.
  const key = text.slice(0, split).replace(/^training\./, '')
  const setting = settable.get(key)
  // The list is long, so the suggestion is repeated below it.
  const nearest = didYouMean(key, [...settable.keys()])
  if (setting === undefined)
    throw new InvalidArgumentError(
      `There is no setting '${key}'.${nearest} Settings, with default and allowed values:\n${valueLines()}${nearest && `\n${nearest.trim()}`}`,
    )
  const nested = key
    .split('.')
    .reduceRight<unknown>((inner, name) => ({ [name]: inner }), readValue(setting, text.slice(split + 1)))
  return merged(earlier, nested as Settings)
}

/** Later layers override earlier ones; nested objects are merged field by field. */
function merged(...layers: readonly Settings[]): Settings {
  const all: Record<string, unknown> = {}
  for (const [name, value] of layers.flatMap((layer) => Object.entries(layer)))
    all[name] = isNested(value) && isNested(all[name]) ? merged(all[name], value) : value
  return all
}

function isNested(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function settingLines(): string {
  return [...settable.values()]
    .map((setting) => {
      const usual = setting.default === undefined ? '' : `default ${setting.default}, `
      return `  ${setting.key}  (${usual}${allowedText(setting)})\n      ${setting.description}`
    })
    .join('\n')
}

function valueLines(): string {
  const width = Math.max(...[...settable.keys()].map((key) => key.length))
  return [...settable.values()]
    .map((setting) => {
      const usual = setting.default === undefined ? '' : `${setting.default}; `
      return `  ${setting.key.padEnd(width)}  ${usual}${allowedText(setting)}`
    })
    .join('\n')
}
