import { z } from 'zod'
import { Problem } from '../problem.ts'
import type { ModelIdentity } from './chat-model.ts'
import type { TokenUsage } from './usage.ts'

const rate = z.number().finite().nonnegative()

/** A model's price, with source and date. Rates are per million tokens. */
const priceSchema = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'a currency is three capital letters, such as CNY'),
  asOf: z.string().regex(/^\d{4}-\d{2}(-\d{2})?$/, 'a date, such as 2026-10-27 or 2026-10'),
  source: z.string().default('user settings'),
  input: rate,
  cachedInput: rate,
  output: rate,
  /** Hours in which all rates are multiplied by `factor`: [from, to) in UTC, on these days (0 is Sunday). */
  peak: z
    .strictObject({
      factor: rate,
      days: z.array(z.number().int().min(0).max(6)).readonly(),
      hours: z.array(z.tuple([z.number().min(0), z.number().max(24)]).readonly()).readonly(),
    })
    .optional(),
})

export type Price = z.output<typeof priceSchema>

/** Prices by `provider/model`. */
export const priceTableSchema = z.record(z.string(), priceSchema)
export type PriceTable = Readonly<Record<string, Price>>

const deepseekFlash: Price = {
  currency: 'CNY',
  asOf: '2026-10',
  source: 'https://api-docs.deepseek.com/zh-cn/quick_start/pricing/',
  input: 1,
  cachedInput: 0.02,
  output: 4,
  // Chinese public holidays are off-peak too, but not known here, so calls on those days are priced too high.
  peak: {
    factor: 2,
    days: [1, 2, 3, 4, 5],
    hours: [
      [1, 4],
      [6, 10],
    ],
  },
}

/** Only from published price lists. Any other model is unpriced until the user sets a price. */
export const publishedPrices: PriceTable = {
  'deepseek/deepseek-flash': deepseekFlash,
  // A retired name: requests are served by, and billed as, deepseek-flash.
  'deepseek/deepseek-v4-flash': deepseekFlash,
  'openai/gpt-6-luna': {
    currency: 'USD',
    asOf: '2026-10-13',
    source: 'https://developers.openai.com/api/docs/models/gpt-6-luna',
    input: 0.1,
    cachedInput: 0.01,
    output: 0.5,
  },
}

/** How price tables name a model: `provider/model`. */
export function pricedName({ provider, model }: Pick<ModelIdentity, 'provider' | 'model'>): string {
  return `${provider}/${model}`
}

/** The user's price, else the published one, else undefined. */
export function priceOf(model: ModelIdentity, own: PriceTable = {}): Price | undefined {
  const key = pricedName(model)
  const table = Object.hasOwn(own, key) ? own : publishedPrices
  return Object.hasOwn(table, key) ? table[key] : undefined
}

/** The prices of a run's calls: its own model's, and those of further models by `provider/model`. */
export interface RunPrice extends Price {
  readonly further?: PriceTable
}

interface PricedModels {
  readonly model: { readonly identity: ModelIdentity }
  readonly models?: Readonly<Record<string, { readonly identity: ModelIdentity }>>
  readonly settings: { readonly prices?: PriceTable }
}

/** Undefined if any of the models has no price, since a partial sum is not a cost. */
export function runPriceOf({ model, models = {}, settings: { prices } }: PricedModels): RunPrice | undefined {
  const price = priceOf(model.identity, prices)
  const others = Object.values(models).map(({ identity }) => [
    pricedName(identity),
    priceOf(identity, prices),
  ])
  if (price === undefined || others.some(([, one]) => one === undefined)) return undefined
  if (others.length === 0) return price
  const further = Object.fromEntries(others) as PriceTable
  const foreign = Object.entries(further).find(([, { currency }]) => currency !== price.currency)
  if (foreign !== undefined)
    throw new Problem(
      `${pricedName(model.identity)} is priced in ${price.currency} and ${foreign[0]} in ${foreign[1].currency}: set both in one currency (model.prices), because costs are added up.`,
    )
  return { ...price, further }
}

/** Names of the models without a price. */
export function unpricedOf({ model, models = {}, settings: { prices } }: PricedModels): string[] {
  const unpriced = [model, ...Object.values(models)].filter(
    ({ identity }) => priceOf(identity, prices) === undefined,
  )
  return [...new Set(unpriced.map(({ identity }) => pricedName(identity)))]
}

/** The price of one model's calls in a run. Default: the run's own model. */
export function priceFor(price: RunPrice | undefined, model?: ModelIdentity): Price | undefined {
  return (model && price?.further?.[pricedName(model)]) ?? price
}

/** An unknown price is `unpriced`, never 0. */
export type Cost = { readonly amount: number; readonly currency: string } | 'unpriced'

/** The cost of tokens used at this time. */
export function costOf(tokens: TokenUsage, price: Price | undefined, at: Date): Cost {
  if (price === undefined) return 'unpriced'
  const { input, cachedInput, output } = tokens
  const plain = (input - cachedInput) * price.input + cachedInput * price.cachedInput + output * price.output
  const factor = isPeak(price, at) ? price.peak!.factor : 1
  return { amount: (plain * factor) / 1_000_000, currency: price.currency }
}

/** The amount of money; 0 if it is unknown. */
export function moneyIn(cost: Cost): number {
  return cost === 'unpriced' ? 0 : cost.amount
}

/** Unpriced if either part is, since a partial sum is not a cost. */
export function addCosts(a: Cost, b: Cost): Cost {
  if (a === 'unpriced' || b === 'unpriced') return 'unpriced'
  if (a.currency !== b.currency) throw new Error(`Costs in ${a.currency} and ${b.currency} cannot be added.`)
  return { amount: a.amount + b.amount, currency: a.currency }
}

function isPeak({ peak }: Price, at: Date): boolean {
  if (peak === undefined || !peak.days.includes(at.getUTCDay())) return false
  const hour = at.getUTCHours() + at.getUTCMinutes() / 60
  return peak.hours.some(([from, to]) => hour >= from && hour < to)
}
