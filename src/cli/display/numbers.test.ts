import { expect, test } from 'vitest'
import {
  differenceWithInterval,
  duration,
  money,
  percent,
  rate,
  scoreWithInterval,
  tokens,
} from './numbers.ts'

test('percentages', () => {
  expect([0.625, 0, 1, -0.0001, 0.0004].map((share) => percent(share))).toEqual([
    '62.5 %',
    '0.0 %',
    '100.0 %',
    '0.0 %',
    '0.0 %',
  ])
  expect(percent(Number.NaN)).toBe('–')
})

test('scores and differences show their interval', () => {
  expect(scoreWithInterval({ mean: 0.625, low: 0.551, high: 0.694 })).toBe('62.5 % [55.1, 69.4]')
  expect(scoreWithInterval({ mean: 1, low: Number.NaN, high: Number.NaN })).toBe('100.0 % [–, –]')
  expect(scoreWithInterval({ mean: Number.NaN, low: 0, high: 1 })).toBe('–')
  expect(differenceWithInterval({ mean: 0.042, low: -0.01, high: 0.094 })).toBe('+4.2 [-1.0, +9.4]')
  expect(differenceWithInterval({ mean: 0, low: -0.0001, high: 0.0001 })).toBe('0.0 [0.0, 0.0]')
})

test.each([
  [0, '0'],
  [812.4, '812'],
  [999.4, '999'],
  [999.5, '1.00 k'],
  [1234, '1.23 k'],
  [12_345, '12.3 k'],
  [99_949, '99.9 k'],
  [99_951, '100 k'],
  [999_499, '999 k'],
  [999_999, '1.00 M'],
  [1_234_567, '1.23 M'],
  [9_996_000, '10.0 M'],
  [2.5e18, '2500000 T'],
  [-1234, '-1.23 k'],
  [Number.NaN, '–'],
])('tokens(%d) is %s', (count, text) => expect(tokens(count)).toBe(text))

test.each([
  [0, '0.0 s'],
  [420, '0.4 s'],
  [9949, '9.9 s'],
  [9960, '10 s'],
  [45_000, '45 s'],
  [59_600, '1 m 00 s'],
  [83_000, '1 m 23 s'],
  [3_599_600, '1 h 00 m'],
  [7_500_000, '2 h 05 m'],
  [86_399_000, '1 d 0 h'],
  [273_600_000, '3 d 4 h'],
  [-5, '0.0 s'],
  [Number.POSITIVE_INFINITY, '–'],
])('duration(%d) is %s', (ms, text) => expect(duration(ms)).toBe(text))

test.each([
  [12.3, '12/s'],
  [1.34, '1.3/s'],
  [1 / 3, '20/min'],
  [1 / 900, '4.0/h'],
  [12_345, '12.3 k/s'],
  [0, '–'],
])('rate(%d) is %s', (perSecond, text) => expect(rate(perSecond)).toBe(text))

test.each([
  [0.42, 'CNY', '¥0.42'],
  [5, 'USD', '$5.00'],
  [1200, 'CHF', 'CHF 1,200.00'],
  [300, 'JPY', 'JPY 300.00'],
  [0, 'CNY', '¥0.00'],
  [0.000312, 'CNY', '¥0.00031'],
  [-0.5, 'EUR', '-€0.50'],
  [Number.NaN, 'EUR', '–'],
])('%d %s is %s', (amount, currency, text) => expect(money({ amount, currency })).toBe(text))

test('an unknown price is never shown as free', () => expect(money('unpriced')).toBe('unpriced'))
