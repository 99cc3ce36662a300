import { expect, test } from 'vitest'
import { isFloatWord, pythonInt } from './number-syntax.ts'

test('accepts what float() accepts', () => {
  const accepted = ['1', '-1.5', '+.5', '5.', '1e5', '1E-05', '1_000.2_5', 'inf', '-Infinity', 'INF', '007']
  const refused = [
    '',
    '.',
    '-',
    '1__0',
    '_1',
    '1_',
    '1_.5',
    '1._5',
    'e5',
    '1e',
    '0x10',
    'nan',
    'infin',
    '1,000',
    '1 2',
  ]
  expect(accepted.filter((word) => !isFloatWord(word))).toEqual([])
  expect(refused.filter(isFloatWord)).toEqual([])
})

test('accepts what int() accepts', () => {
  expect([' 42\n', '-7', '+1_000', '٣', '0012'].map(pythonInt)).toEqual([42n, -7n, 1000n, 3n, 12n])
  expect(['', '4.0', '1e3', '1__0', 'two', '9'.repeat(4301)].map(pythonInt)).toEqual(Array(6).fill(undefined))
  expect(pythonInt('9'.repeat(4300))).toBe(10n ** 4300n - 1n)
})
