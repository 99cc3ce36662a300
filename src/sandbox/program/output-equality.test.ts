import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { patientLimits } from '../../../test/attacks/attacks.ts'
import { SandboxPool } from '../pool.ts'
import { ProgramSandbox } from '../program-sandbox.ts'
import { equalOutputs } from './output-equality.ts'

describe('outputs are equal', () => {
  test.each([
    ['ok\n', 'ok'],
    ['  1 2 3   \n\tok ', '1 2 3\nok\n'],
    ['ok\n\n  \n', 'ok\n'],
    ['one\r\ntwo\r\n', 'one\ntwo\n'],
    ['1.0 2.5 3.00', '1 2.50 3'],
    ['-0\n-0.0', '0\n0.00'],
    ['007\n+5', '7\n5'],
    ['1_000', '1000'],
    ['nan', 'nan'],
    ['Infinity', 'inf'],
    ['1e3', '1000'],
    ['.5', '0.5'],
    ['\u0661\u0662', '12'],
    ['1\u00a02', '1 2'],
    [`1${'0'.repeat(60000)}`, `1e60000`],
  ])('%j and %j', (actual, expected) => expect(equalOutputs(actual, expected)).toBe(true))

  test.each([
    ['0.1000000000000000055511151231257827', '0.1'],
    ['100000000000000000000', '100000000000000000001'],
    ['1,000', '1000'],
    ['YES', 'Yes'],
    ['True', '1'],
    ['a\n\nb', 'a\nb'],
    ['a\ndebug', 'a'],
    ['', '0'],
    ['nan', 'NaN'],
    ['inf', '-inf'],
    ['1 2', '1 2 3'],
    ['1 x', '1 y'],
    ['1e99999999999999999999', '1e99999999999999999998'],
    ['0x10', '16'],
    ['\ufeff1', '1'],
  ])('not %j and %j', (actual, expected) => expect(equalOutputs(actual, expected)).toBe(false))
})

// The comparison done by Python itself.
const reference = `
import json, sys
from decimal import Decimal

def lines(text):
    return [line.strip() for line in text.strip().split("\\n")]

def equal(a, b):
    if a == b:
        return True
    try:
        return [Decimal(w) for w in a.split()] == [Decimal(w) for w in b.split()]
    except ArithmeticError:
        return False

for left, right in json.load(sys.stdin):
    left, right = lines(left), lines(right)
    print(len(left) == len(right) and all(map(equal, left, right)))
`

test('agrees with Python on generated pairs of lines', async () => {
  const digits = fc.string({ unit: fc.constantFrom('0', '0', '1', '5', '9', '_', '٣', '𝟗'), maxLength: 6 })
  const exponent = fc.constantFrom(
    '',
    'e1',
    'E-2',
    'e+3',
    'e',
    'e1000000000000000000',
    'e-1999999999999999997',
    'e-2e1',
  )
  const number = fc
    .tuple(fc.constantFrom('', '-', '+', '--'), digits, fc.constantFrom('', '.'), digits, exponent)
    .map((parts) => parts.join(''))
  const word = fc.oneof(
    { weight: 6, arbitrary: number },
    {
      weight: 1,
      arbitrary: fc.constantFrom('nan', 'NaN12', 'inf', '-Infinity', 'infinit', '0e-9', 'x', '+', '.', '_'),
    },
  )
  const space = fc.constantFrom(' ', '  ', '\t', '\u00a0', '\u001f', '\ufeff', '\n', '\r\n')
  const text = fc.array(fc.tuple(word, space), { maxLength: 3 }).map((parts) => parts.flat().join(''))
  const near = text.chain((left) =>
    fc.tuple(
      fc.constant(left),
      fc.oneof(text, fc.constant(left.replace('.', '.0')), fc.constant(`${left.trim()}0`)),
    ),
  )
  const pairs = fc.sample(near, { numRuns: 2000, seed: 1 })
  const programs = new ProgramSandbox(new SandboxPool({ infrastructureSeconds: 600 }))
  const report = await programs.run(reference, JSON.stringify(pairs), undefined, patientLimits)
  expect(report.stderr).toBe('')
  const expected = report.stdout.trim().split('\n')
  const different = pairs.filter(
    ([left, right], index) => equalOutputs(left, right) !== (expected[index] === 'True'),
  )
  expect(different).toEqual([])
  expect(expected.filter((line) => line === 'True').length).toBeGreaterThan(100)
})
