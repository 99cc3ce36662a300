import { type Command, InvalidArgumentError } from 'commander'
import type { Configuration } from '../../configuration/configuration.ts'
import { lexicalEncoder } from '../../encoder/lexical-encoder.ts'
import type { ModelIdentity } from '../../models/chat-model.ts'
import { openModel } from '../../models/open-model.ts'
import { type Price, type PriceTable, priceOf, publishedPrices } from '../../models/prices.ts'
import { trainingSettings } from '../../settings/training.ts'
import { simulatedModelName } from '../../simulator/model/simulated-name.ts'
import { estimate, type Range } from '../../training/estimate.ts'
import { tokens } from '../display/numbers.ts'
import { shownText } from '../display/screen.ts'
import { tableLines } from '../display/table.ts'
import { counted } from '../display/terminal-text.ts'
import { exitCodeNote, NotedCommand } from '../help-notes.ts'
import { jsonOption } from '../options/common-options.ts'
import { addModelOptions, type ModelOptions, modelSource } from '../options/model-options.ts'
import {
  chosenLearner,
  modelsOption,
  type PoolOptions,
  poolIdentities,
  poolSource,
} from '../options/model-pool.ts'
import { type GivenOrganisation, parseOrganisation } from '../options/organisation-option.ts'
import {
  addTaskOptions,
  openTasks,
  type TaskOptions,
  type TaskSource,
  taskSource,
  usualMethod,
} from '../options/task-options.ts'
import { addTrainingOptions, givenSettings, type TrainingOptions } from '../options/training-options.ts'
import { printAside, printResult } from '../print.ts'
import { costText } from '../views/evaluation-table.ts'

interface EstimateOptions extends TrainingOptions, PoolOptions {
  readonly organisation?: GivenOrganisation
  /** `provider/model` */
  readonly price?: string
  readonly json: boolean
}

export function estimateCommand(): Command {
  const command = new NotedCommand('estimate').description(
    'Estimate the calls, tokens and cost of a training. Calls no model and needs no key.',
  )
  addTaskOptions(command)
    .option('--price <provider/model>', "use this model's price (default: the chosen model's)", priceName)
    .option(
      '--organisation <name>',
      'of this system instead of a policy; see `magic organisations`',
      parseOrganisation,
    )
    .addOption(jsonOption('the estimate as JSON'))
  addTrainingOptions(command)
  return addModelOptions(command)
    .addOption(modelsOption())
    .notes({
      examples: [
        ['magic estimate questions.jsonl --model deepseek'],
        ['magic estimate gsm8k --study q1 --price openai/gpt-6-luna'],
        ['magic estimate synthetic --trajectories 8 --json'],
        ['magic estimate gsm8k --organisation gptswarm --price deepseek/deepseek-flash'],
      ],
      notes: [
        "Runs a few updates on the simulated model, whose replies are about as long as a real model's.",
        `Known prices: ${Object.keys(publishedPrices).join(', ')}. Add others under model.prices in magic.config.ts.`,
        exitCodeNote,
      ],
    })
    .action((tasks: string | undefined, options: TaskOptions & EstimateOptions) =>
      tellEstimate(taskSource(tasks, options), options),
    )
}

function priceName(text: string): string {
  if (!/^[^/]+\/.+$/.test(text))
    throw new InvalidArgumentError('Write provider/model, such as deepseek/deepseek-flash.')
  return text
}

const edges = ['low', 'expected', 'high'] as const

export async function tellEstimate(source: TaskSource, options: EstimateOptions): Promise<void> {
  const { set, configuration, notes } = await openTasks(source)
  const { settings: given, execution } = givenSettings(options, configuration, {
    method: options.organisation === undefined ? usualMethod(source, configuration) : 'paper',
  })
  const settings = trainingSettings.parse(given)
  const identity = modelIdentity(options, configuration)
  const prices = configuredPrices(configuration)
  const price = priceOf(identity, prices)
  const pool = poolSource(options, configuration?.models)
  const organisation = await chosenLearner(options.organisation, pool)
  const models = await poolIdentities(pool)
  if (!options.json) printAside(() => notes)
  const figures = await estimate({
    set,
    settings,
    price,
    execution,
    organisation,
    ...(models && { pool: { model: identity, models, prices } }),
    // The encoder does not change the cost, and this one needs no download.
    encoder: lexicalEncoder,
  })
  const model = `${identity.provider}/${identity.model}`
  const isSimulated = identity.model === simulatedModelName
  const { updates, sampled, perQuestion, cost } = figures
  printResult(
    options,
    {
      ...{ tasks: set.name, organisation: organisation?.name ?? null, model, price: price ?? null },
      ...(models && { models: Object.keys(models) }),
      lengths: 'simulated',
      ...figures,
    },
    (screen) => {
      const { trajectories, probes } = settings
      const counts = (name: string, range: Range) => [name, ...edges.map((edge) => tokens(range[edge]))]
      const rows = [
        counts('calls', figures.calls),
        counts('tokens in', figures.inputTokens),
        counts('tokens out', figures.outputTokens),
        ['cost', ...edges.map((edge) => costText(cost[edge], isSimulated))],
      ]
      const { calls, tokens: length, cost: share } = perQuestion
      const each = `${calls.toFixed(1)} calls, ${tokens(length)} tokens, ${costText(share, isSimulated)}`
      const how =
        settings.method === 'values'
          ? 'by value learning'
          : `each with ${trajectories} graphs and up to ${probes} probes`
      const what = organisation === undefined ? 'Training' : `Training ${organisation.name}`
      const title = `${what} on ${set.name}: ${counted(updates, 'update')}${organisation === undefined ? `, ${how}` : ''}`
      return [
        screen.paint('bold', shownText(title)),
        '',
        tableLines({ columns: ['', ...edges], rows }, screen),
        '',
        `One answer of the untrained ${organisation === undefined ? 'policy' : 'system'} takes ${each}.`,
        models === undefined
          ? shownText(priceText(model, price, isSimulated))
          : shownText(`Each call is priced as its own model: ${[model, ...Object.keys(models)].join(', ')}.`),
        `Based on ${sampled} of ${counted(updates, 'update')}, run on the simulated model. A model that writes longer replies costs more.`,
      ]
    },
  )
}

/** The user's own prices. */
export function configuredPrices(configuration: Configuration | undefined): PriceTable | undefined {
  const { model } = configuration ?? {}
  return typeof model === 'object' ? (model.prices as PriceTable | undefined) : undefined
}

/** The model that would be called; knowing it takes no key. */
export function modelIdentity(
  options: ModelOptions & Pick<EstimateOptions, 'price'>,
  configuration: Configuration | undefined,
): ModelIdentity {
  if (options.price !== undefined) {
    const [provider = '', ...model] = options.price.split('/')
    return { provider, model: model.join('/'), options: {} }
  }
  const source = modelSource(options, configuration?.model)
  if (source.kind === 'simulated')
    return { provider: simulatedModelName, model: simulatedModelName, options: {} }
  const { apiKeyFile: _, ...settings } = source.settings
  return openModel({ ...settings, apiKeyEnv: 'KEY' }, { KEY: 'unneeded' }).identity
}

function priceText(model: string, price: Price | undefined, isSimulated: boolean): string {
  const known = Object.keys(publishedPrices)
  if (price === undefined && isSimulated)
    return `The simulated model is free. See what another would cost with --price ${known[0]}.`
  if (price === undefined)
    return `The price of ${model} is unknown. Set it under model.prices in magic.config.ts, or use another with --price: ${known.join(', ')}.`
  const { input, cachedInput, output, currency, asOf, peak } = price
  const dearer =
    peak === undefined ? '' : `, ${peak.factor}× in peak hours; the estimate uses the current hour`
  return `Price of ${model} as of ${asOf}, in ${currency} per million tokens: ${input} in, ${cachedInput} cached, ${output} out${dearer}.`
}
