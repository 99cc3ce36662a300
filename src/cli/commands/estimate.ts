import { Command, InvalidArgumentError } from 'commander'
import type { Configuration } from '../../configuration/configuration.ts'
import { lexicalEncoder } from '../../encoder/lexical-encoder.ts'
import type { ModelIdentity } from '../../models/chat-model.ts'
import { openModel } from '../../models/open-model.ts'
import { type Cost, type Price, type PriceTable, priceOf, publishedPrices } from '../../models/prices.ts'
import type { BudgetSettings } from '../../settings/budget.ts'
import { trainingSettings } from '../../settings/training.ts'
import { simulatedModelName } from '../../simulator/model/simulator.ts'
import { type Estimate, estimate, type Range } from '../../training/estimate.ts'
import { money, tokens } from '../display/numbers.ts'
import { type Screen, screenOf, shownText } from '../display/screen.ts'
import { terminalTable } from '../display/table.ts'
import { counted, jsonText } from '../display/terminal-text.ts'
import { exitCodeHelp } from '../exit-code.ts'
import { jsonOption } from '../options/common-options.ts'
import { addModelOptions, type ModelOptions, modelSource } from '../options/model-options.ts'
import { addTaskOptions, openTasks, type TaskSource, taskSource } from '../options/task-options.ts'
import {
  addBudgetOptions,
  addTrainingOptions,
  type BudgetOptions,
  givenBudget,
  givenTraining,
  type TrainingOptions,
} from '../options/training-options.ts'

export interface EstimateOptions extends TrainingOptions, BudgetOptions, ModelOptions {
  /** `provider/model` */
  readonly price?: string
  readonly json: boolean
}

export function estimateCommand(): Command {
  const command = new Command('estimate').description(
    'Tell what a training would take: calls, tokens and money. Asks no model and needs no key.',
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

Some updates are run on the simulated model, whose replies are about as long as a model's, but simulated.
Prices that are known: ${Object.keys(publishedPrices).join(', ')}; model.prices in magic.config.ts adds others.
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
  const settings = givenTraining(options, configuration)
  const identity = identityOf(options, configuration)
  const price = priceOf(identity, ownPrices(configuration))
  if (!options.json) for (const note of notes) process.stderr.write(`${note}\n`)
  // Which encoder a run has makes no difference to what it takes, and this one needs no download.
  const figures = await estimate({ set, settings, encoder: lexicalEncoder, price })
  const told: ToldEstimate = {
    tasks: set.name,
    model: `${identity.provider}/${identity.model}`,
    ...(price === undefined ? {} : { price }),
    isSimulated: identity.model === simulatedModelName,
    trajectories: trainingSettings.parse(settings).trajectories,
    probes: trainingSettings.parse(settings).probes,
    caps: givenBudget(options, configuration),
    figures,
  }
  process.stdout.write(
    options.json ? `${jsonText(estimateJson(told))}\n` : estimateText(told, screenOf(process.stdout)),
  )
}

interface ToldEstimate {
  readonly tasks: string
  readonly model: string
  readonly price?: Price
  /** Whether the chosen model itself is the simulated one; lengths are simulated in any case. */
  readonly isSimulated: boolean
  readonly trajectories: number
  readonly probes: number
  readonly caps: BudgetSettings
  readonly figures: Estimate
}

/** Who would be asked. No key is needed to know that. */
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

function estimateJson({ tasks, model, price, figures }: ToldEstimate): object {
  return { tasks, model, price: price ?? null, lengths: 'simulated', ...figures }
}

function estimateText(told: ToldEstimate, screen: Screen): string {
  const { tasks, figures, trajectories, probes } = told
  const { calls, inputTokens, outputTokens, cost, updates, sampled, perQuestion } = figures
  const costText = (amount: Cost) => (amount === 'unpriced' && told.isSimulated ? 'free' : money(amount))
  const range = (name: string, { low, expected, high }: Range) => [name, ...[low, expected, high].map(tokens)]
  const table = terminalTable(
    {
      columns: [
        { header: '' },
        ...['low', 'expected', 'high'].map((header) => ({ header, kind: 'number' as const })),
      ],
      rows: [
        range('calls', calls),
        range('tokens in', inputTokens),
        range('tokens out', outputTokens),
        ['cost', ...[cost.low, cost.expected, cost.high].map(costText)],
      ],
    },
    screen,
  )
  const { calls: each, tokens: size, cost: share } = perQuestion
  const lines = [
    `A question answered by the untrained policy takes ${each.toFixed(1)} calls, ${tokens(size)} tokens, ${costText(share)}.`,
    ...priceLines(told),
    ...capLines(told),
    `Lengths are simulated: ${counted(sampled, 'update')} of ${updates} ran on the simulated model.`,
    'A model that writes more costs more.',
  ]
  const heading = `Training on ${tasks}: ${counted(updates, 'update')}, each with ${trajectories} graphs and up to ${probes} probes`
  return [
    screen.paint('bold', shownText(heading, screen)),
    '',
    table,
    ...lines.map((line) => shownText(line, screen)),
    '',
  ].join('\n')
}

function priceLines({ model, price, isSimulated }: ToldEstimate): string[] {
  const known = Object.keys(publishedPrices)
  if (price !== undefined) {
    const { input, cachedInput, output, currency, asOf, peak } = price
    const dearer =
      peak === undefined ? '' : `; ${peak.factor} times that in peak hours, told here as of this hour`
    return [
      `Price of ${model} as of ${asOf}, in ${currency} per million tokens:`,
      `${input} in, ${cachedInput} cached, ${output} out${dearer}.`,
    ]
  }
  return isSimulated
    ? [`The simulated model is free; --price ${known[0]} tells what another would cost.`]
    : [
        `There is no price for ${model}. Give one under model.prices in magic.config.ts,`,
        `or take another with --price: ${known.join(', ')}.`,
      ]
}

/** Whether the caps would hold the run up. */
function capLines({ caps, figures }: ToldEstimate): string[] {
  const { calls, inputTokens, outputTokens, cost } = figures
  const amount = (given: Cost) => (given === 'unpriced' ? undefined : given.amount)
  const sum = (edge: keyof Range) => inputTokens[edge] + outputTokens[edge]
  const expected = { cost: amount(cost.expected), tokens: sum('expected'), calls: calls.expected }
  const high = { cost: amount(cost.high), tokens: sum('high'), calls: calls.high }
  return (['cost', 'tokens', 'calls'] as const).flatMap((cap) => {
    const limit = caps[cap]
    if (limit === undefined || expected[cap] === undefined) return []
    const verdict =
      limit >= high[cap]!
        ? 'is enough'
        : limit >= expected[cap]
          ? 'may be reached'
          : 'will probably be reached'
    return [`The cap --max-${cap} ${limit} ${verdict}.`]
  })
}
