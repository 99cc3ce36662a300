import { z } from 'zod'
import type { ModelIdentity } from './chat-model.ts'
import type { TokenUsage } from './usage.ts'

const rate = z.number().finite().nonnegative()

/** What a model costs, with source and date. Rates are per million tokens. */
const priceSchema = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'a currency is three capital letters, such as CNY'),
  asOf: z.string().regex(/^\d{4}-\d{2}(-\d{2})?$/, 'a date, such as 2026-10-27 or 2026-10'),
  source: z.string().default('user settings'),
  input: rate,
  cachedInput: rate,
  output: rate,
  /** Hours in which all rates are multiplied; [from, to) in UTC, on these days (0 is Sunday). */
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
  // Chinese public holidays are off-peak too; they are not known here, so a call on such a day is priced too high.
  peak: {
    factor: 2,
    days: [1, 2, 3, 4, 5],
    hours: [
      [1, 4],
      [6, 10],
    ],
  },
}

/** From published price lists only. Any other model is unpriced until the user gives a price. */
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

/** The user's price where there is one, else the published one, else none. */
export function priceOf({ provider, model }: ModelIdentity, own: PriceTable = {}): Price | undefined {
  const key = `${provider}/${model}`
  const table = Object.hasOwn(own, key) ? own : publishedPrices
  return Object.hasOwn(table, key) ? table[key] : undefined
}

/** An unknown price is `unpriced`, never 0. */
export type Cost = { readonly amount: number; readonly currency: string } | 'unpriced'

/** The cost of tokens that were used at this time. */
export function costOf(tokens: TokenUsage, price: Price | undefined, at: Date): Cost {
  if (price === undefined) return 'unpriced'
  const { input, cachedInput, output } = tokens
  const plain = (input - cachedInput) * price.input + cachedInput * price.cachedInput + output * price.output
  const factor = isPeak(price, at) ? price.peak!.factor : 1
  return { amount: (plain * factor) / 1_000_000, currency: price.currency }
}

/** Unpriced if either part is: a sum that leaves something out is no cost. */
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
