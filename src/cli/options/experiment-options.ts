import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { listedNames } from '../../experiments/listed-condition.ts'
import { type ExperimentName, experiments } from '../../experiments/run-experiment.ts'
import { sweepSettings } from '../../experiments/settings.ts'
import type { ExperimentDefinition, StudyOptions } from '../../experiments/studies/definition.ts'
import { type PriceTable, priceTableSchema } from '../../models/prices.ts'
import type { TransportRule } from '../../training/evaluate-graph.ts'
import type { EncoderSource } from '../job.ts'
import { UsageError } from '../problem.ts'
import { concurrencyOption, encoderOption } from './common-options.ts'
import type { ModelOptions } from './model-options.ts'
import { flagOf, positiveNumber, wholeNumber } from './option-values.ts'
import type { ReportOptions } from './report-options.ts'
import type { BudgetOptions, TrainingOptions } from './training-options.ts'

export interface ExperimentOptions
  extends ModelOptions,
    BudgetOptions,
    ReportOptions,
    Pick<TrainingOptions, 'set'> {
  readonly tasks?: readonly string[]
  readonly seeds: number
  readonly seed?: number
  readonly out?: string
  readonly from?: string
  readonly data?: string
  readonly trainSize?: number
  readonly testSize?: number
  readonly encoder: EncoderSource
  readonly concurrency?: number
  readonly transportFailures: TransportRule
  readonly routeBudget?: number
  readonly prices?: string
  readonly ledger?: string
  readonly organisations?: readonly string[]
  readonly matchedBudget?: boolean
  readonly penalise: 'tokens' | 'calls' | 'both'
  readonly penalties?: readonly number[]
  readonly dryRun: boolean
}

export function addExperimentOptions<Given extends Command>(command: Given): Given {
  return command
    .option('--tasks <names...>', 'benchmarks or question files, separated by commas or spaces', taskNames)
    .option('--seeds <n>', 'repeat with n consecutive seeds', wholeNumber(1), 1)
    .option('--seed <n>', "first seed (default: the paper's)", wholeNumber(0))
    .option('--out <folder>', 'where everything is stored (default: experiments/<name>)')
    .option(
      '--from <path>',
      "d3: a run's trajectories.jsonl; d2: the folder of a D1; q4: the folder of a Q1",
      (path) => resolve(path),
    )
    .option('--data <folder>', 'folder with the benchmark data; see `magic data`')
    .option('--train-size <n>', 'use at most n training questions; tables show the deviation', wholeNumber(1))
    .option('--test-size <n>', 'use at most n held-out questions; tables show the deviation', wholeNumber(1))
    .addOption(encoderOption().default('auto'))
    .option(
      '--route-budget <amount>',
      'q3: spending limit per route, in money or, without a price, in tokens',
      positiveNumber,
    )
    .option('--prices <file>', 'prices of models as JSON; see docs/models.md', (path) => resolve(path))
    .option('--ledger <file>', 'q3: a ledger.sqlite that both routes start from', (path) => resolve(path))
    .option(
      '--organisations <names...>',
      'q1, q4: also measure these systems, separated by commas or spaces; see `magic organisations`',
      organisationList,
    )
    .option('--matched-budget', 'q1, q2, q4: also what the same tokens buy with direct answers and votes')
    .addOption(
      new Option('--penalise <what>', 'sweep: what the policies learn to save')
        .choices(['tokens', 'calls', 'both'])
        .default('tokens'),
    )
    .option('--penalties <weights>', 'sweep: weights per token or per call, separated by commas', weights)
    .addOption(
      new Option(
        '--transport-failures <rule>',
        'if the model is unreachable: score 0 as the paper does, or stop',
      )
        .choices(['zero', 'stop'])
        .default('zero'),
    )
    .option('-n, --dry-run', 'only estimate calls, tokens, cost and time', false)
    .addOption(concurrencyOption())
}

export function experimentName(text: string): ExperimentName {
  if (Object.hasOwn(experiments, text)) return text as ExperimentName
  throw new InvalidArgumentError(`Choose from ${Object.keys(experiments).join(', ')}.`)
}

function taskNames(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, ...text.split(',').map((name) => name.trim())]
}

function organisationList(text: string, earlier: readonly string[] = []): string[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !listedNames.includes(name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(
      `There is no organisation '${unknown}'. Choose from ${listedNames.join(', ')}.`,
    )
  return [...earlier, ...names]
}

function weights(text: string): number[] {
  return text.split(',').map(positiveNumber)
}

export function pricesIn(file: string | undefined): { readonly prices?: PriceTable } {
  if (file === undefined) return {}
  let content: unknown
  try {
    content = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`Cannot read ${file} as JSON: ${(error as Error).message}`)
  }
  const { data, error } = priceTableSchema.safeParse(content)
  if (error !== undefined)
    throw new UsageError(`${file} is not a valid price table.\n${z.prettifyError(error)}`)
  return { prices: data }
}

export function penaltiesOf({ penalise, penalties }: ExperimentOptions): StudyOptions['penalties'] {
  if (penalise === 'both' && penalties !== undefined)
    throw new UsageError('--penalties apply to tokens or to calls. Choose one with --penalise.')
  const { penalties: usual, callPenalties } = sweepSettings
  return {
    ...(penalise === 'calls' ? {} : { tokens: penalties ?? usual.tokens }),
    ...(penalise === 'tokens' ? {} : { calls: penalties ?? callPenalties }),
  }
}

/** Options that only some experiments use. */
const ofSome = {
  from: ['d2', 'd3', 'q4'],
  routeBudget: ['q3'],
  ledger: ['q3'],
  penalties: ['sweep'],
  organisations: ['q1', 'q4'],
  matchedBudget: ['q1', 'q2', 'q4', 'sweep'],
} as const satisfies Partial<Record<keyof ExperimentOptions, readonly ExperimentName[]>>

/** Rejects options that this experiment does not use. */
export function assertUsed(name: ExperimentName, options: ExperimentOptions): void {
  for (const [option, having] of Object.entries(ofSome))
    if (options[option as keyof ExperimentOptions] !== undefined && !having.includes(name as never))
      throw new UsageError(`${flagOf(option)} is only for ${having.join(', ')}, not for ${name}.`)
  const { takesSeeds = false }: ExperimentDefinition = experiments[name]
  if (options.seeds > 1 && !takesSeeds)
    throw new UsageError(`${name} runs with one seed. Use --seed instead of --seeds.`)
}
