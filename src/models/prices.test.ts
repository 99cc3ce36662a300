import { describe, expect, test } from 'vitest'
import {
  addCosts,
  costOf,
  type Price,
  priceFor,
  priceOf,
  priceTableSchema,
  publishedPrices,
  runPriceOf,
  unpricedOf,
} from './prices.ts'

const deepseek = { provider: 'deepseek', model: 'deepseek-v4-flash', options: {} }
const million = { input: 3_000_000, cachedInput: 1_000_000, output: 1_000_000 }
const sunday = new Date('2026-11-15T02:00:00Z')

describe('the table', () => {
  test.each(Object.entries(publishedPrices))('%s names its currency, date and source', (_, price) => {
    expect(priceTableSchema.parse({ x: price })).toEqual({ x: price })
    expect(price.source).toMatch(/^https:\/\//)
    expect(price.cachedInput).toBeLessThan(price.input)
  })

  test("the user's price takes precedence", () => {
    const own: Price = {
      currency: 'EUR',
      asOf: '2026-11-16',
      source: 'me',
      input: 1,
      cachedInput: 1,
      output: 1,
    }
    expect(priceOf(deepseek)?.currency).toBe('CNY')
    expect(priceOf(deepseek, { 'deepseek/deepseek-v4-flash': own })).toBe(own)
  })

  test('an unknown model is unpriced, not free', () => {
    for (const model of ['unheard-of', 'toString', '__proto__']) {
      const price = priceOf({ provider: 'deepseek', model, options: {} })
      expect(price).toBeUndefined()
      expect(costOf(million, price, sunday)).toBe('unpriced')
    }
  })

  test.each([
    { input: -1 },
    { output: Number.NaN },
    { cachedInput: Number.POSITIVE_INFINITY },
    { currency: 'yuan' },
    { asOf: 'yesterday' },
    { perToken: 1 },
  ])('%j is refused', (mistake) => {
    const price = { currency: 'CNY', asOf: '2026-11-16', input: 1, cachedInput: 1, output: 1, ...mistake }
    expect(() => priceTableSchema.parse({ 'a/b': price })).toThrow()
  })
})

describe('costs', () => {
  const price = priceOf(deepseek)

  test('cached input has its own rate', () => {
    expect(costOf(million, price, sunday)).toEqual({ amount: 2 * 1 + 0.02 + 4, currency: 'CNY' })
    expect(costOf({ input: 0, cachedInput: 0, output: 0 }, price, sunday)).toEqual({
      amount: 0,
      currency: 'CNY',
    })
  })

  test.each([
    ['2026-11-16T00:59:59Z', 1],
    ['2026-11-16T01:00:00Z', 2],
    ['2026-11-16T03:59:00Z', 2],
    ['2026-11-16T04:00:00Z', 1],
    ['2026-11-16T06:00:00Z', 2],
    ['2026-11-16T10:00:00Z', 1],
    ['2026-11-21T02:00:00Z', 1],
  ])('DeepSeek at %s: times %d', (time, factor) => {
    const tokens = { input: 1_000_000, cachedInput: 0, output: 0 }
    expect(costOf(tokens, price, new Date(time))).toEqual({ amount: factor, currency: 'CNY' })
  })

  test('add up', () => {
    const one = { amount: 1, currency: 'CNY' }
    expect(addCosts(one, one)).toEqual({ amount: 2, currency: 'CNY' })
    expect(addCosts(one, 'unpriced')).toBe('unpriced')
    expect(() => addCosts(one, { amount: 1, currency: 'USD' })).toThrow('CNY and USD')
  })
})

describe('several models', () => {
  const named = (model: string) => ({ identity: { provider: 'p', model, options: {} } })
  const price = { currency: 'EUR', asOf: '2026-11', source: 'me', input: 1, cachedInput: 1, output: 1 }
  const given = (prices: Record<string, Price>) => ({
    model: named('own'),
    models: { big: named('big') },
    settings: { prices },
  })

  test('each has its own price', () => {
    const all = runPriceOf(given({ 'p/own': price, 'p/big': { ...price, input: 9 } }))
    expect(priceFor(all)?.input).toBe(1)
    expect(priceFor(all, named('own').identity)?.input).toBe(1)
    expect(priceFor(all, named('big').identity)?.input).toBe(9)
  })

  test('one without a price leaves the total unpriced and is named', () => {
    expect(runPriceOf(given({ 'p/own': price }))).toBeUndefined()
    expect(unpricedOf(given({ 'p/own': price }))).toEqual(['p/big'])
  })

  test('two currencies are refused', () => {
    expect(() => runPriceOf(given({ 'p/own': price, 'p/big': { ...price, currency: 'USD' } }))).toThrow(
      'p/own is priced in EUR and p/big in USD: set both in one currency (model.prices), because costs are added up.',
    )
  })
})
