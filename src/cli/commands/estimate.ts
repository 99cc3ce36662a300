import { Command, InvalidArgumentError } from 'commander'
import type { Configuration } from '../../configuration/configuration.ts'
import { lexicalEncoder } from '../../encoder/lexical-encoder.ts'
import type { ModelIdentity } from '../../models/chat-model.ts'
import { openModel } from '../../models/open-model.ts'
import { type PriceTable, priceOf, publishedPrices } from '../../models/prices.ts'
import { trainingSettings } from '../../settings/training.ts'
import { simulatedModelName } from '../../simulator/model/simulator.ts'
import { estimate } from '../../training/estimate.ts'
import { exitCodeHelp } from '../exit-code.ts'
import { jsonOption } from '../options/common-options.ts'
import { addModelOptions, type ModelOptions, modelSource } from '../options/model-options.ts'
import { addTaskOptions, openTasks, type TaskSource, taskSource } from '../options/task-options.ts'
import {
  addBudgetOptions,
  addTrainingOptions,
  type BudgetOptions,
  givenSettings,
  type TrainingOptions,
} from '../options/training-options.ts'
import { printResult } from '../print.ts'
import { estimateText } from '../views/estimate-view.ts'

export interface EstimateOptions extends TrainingOptions, BudgetOptions, ModelOptions {
  /** `provider/model` */
  readonly price?: string
  readonly json: boolean
}

export function estimateCommand(): Command {
  const command = new Command('estimate').description(
    'Estimate the calls, tokens and money of a training. Asks no model and needs no key.',
  )
  addTaskOptions(command)
    .option('--price <provider/model>', "at this model's price; by default at the chosen model's", priceName)
    .addOption(jsonOption('the estimate as JSON'))
  addTrainingOptions(command)
  addBudgetOptions(command)
  return addModelOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  magic estimate questions.jsonl --model deepseek
  magic estimate gsm8k --study q1 --price openai/gpt-6-luna
  magic estimate synthetic --trajectories 8 --json

A few updates run on the simulated model, whose replies are about as long as a real model's.
Known prices: ${Object.keys(publishedPrices).join(', ')}; model.prices in magic.config.ts adds others.
${exitCodeHelp}`,
    )
    .action((tasks: string | undefined, options: TaskSource & EstimateOptions) =>
      tellEstimate(taskSource(tasks, options), options),
    )
}

function priceName(text: string): string {
  if (!/^[^/]+\/.+$/.test(text))
    throw new InvalidArgumentError('Write it as provider/model, such as deepseek/deepseek-flash.')
  return text
}

export async function tellEstimate(source: TaskSource, options: EstimateOptions): Promise<void> {
  const { set, configuration, notes } = await openTasks(source)
  const { settings: given, budget: caps } = givenSettings(options, configuration)
  const settings = trainingSettings.parse(given)
  const identity = identityOf(options, configuration)
  const price = priceOf(identity, ownPrices(configuration))
  if (!options.json) for (const note of notes) process.stderr.write(`${note}\n`)
  // A run takes the same with every encoder, and this one needs no download.
  const figures = await estimate({ set, settings, encoder: lexicalEncoder, price })
  const model = `${identity.provider}/${identity.model}`
  const isSimulated = identity.model === simulatedModelName
  printResult(
    options,
    () => ({ tasks: set.name, model, price: price ?? null, lengths: 'simulated', ...figures }),
    (screen) => estimateText({ tasks: set.name, model, price, isSimulated, settings, caps, figures }, screen),
  )
}

/** Which model would be asked; that is known without a key. */
function identityOf(options: EstimateOptions, configuration: Configuration | undefined): ModelIdentity {
  if (options.price !== undefined) {
    const [provider = '', ...model] = options.price.split('/')
    return { provider, model: model.join('/'), options: {} }
  }
  const configured = configuration?.model
  const { prices: _, ...named } = typeof configured === 'object' ? configured : {}
  const source = modelSource(options, typeof configured === 'object' ? named : configured)
  if (source.kind === 'simulated')
    return { provider: simulatedModelName, model: simulatedModelName, options: {} }
  const { apiKeyFile: __, ...settings } = source.settings
  return openModel({ ...settings, apiKeyEnv: 'KEY' }, { KEY: 'unneeded' }).identity
}

function ownPrices(configuration: Configuration | undefined): PriceTable {
  const model = configuration?.model
  return ((typeof model === 'object' ? model.prices : undefined) as PriceTable | undefined) ?? {}
}
