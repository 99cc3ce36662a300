import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { patientLimits } from '../../test/attacks/attacks.ts'
import { SandboxPool } from '../sandbox/pool.ts'
import { runCase } from '../sandbox/program/run-tests.ts'
import { equalsExpected } from './equality.ts'
import { parsePythonJson } from './json.ts'
import { decodePlain } from './plain-value.ts'

describe('JSON as Python reads it', () => {
  test.each([
    ['1', { kind: 'int', value: 1n }],
    ['-0', { kind: 'int', value: 0n }],
    ['1.0', { kind: 'float', value: 1 }],
    ['1e400', { kind: 'float', value: Number.POSITIVE_INFINITY }],
    ['-Infinity', { kind: 'float', value: Number.NEGATIVE_INFINITY }],
    ['123456789012345678901234567890', { kind: 'int', value: 123456789012345678901234567890n }],
    [' [ ] ', { kind: 'list', items: [] }],
    ['"\\ud83d\\ude00\\ud800"', { kind: 'str', value: '\u{1f600}\ud800' }],
    ['"\u007f"', { kind: 'str', value: '\u007f' }],
    [
      '{"a": 1, "a": 2}',
      {
        kind: 'dict',
        entries: [
          [
            { kind: 'str', value: 'a' },
            { kind: 'int', value: 2n },
          ],
        ],
      },
    ],
    [
      '{"__proto__": 1}',
      {
        kind: 'dict',
        entries: [
          [
            { kind: 'str', value: '__proto__' },
            { kind: 'int', value: 1n },
          ],
        ],
      },
    ],
  ])('%s', (text, value) => expect(parsePythonJson(text)).toEqual(value))

  test.each([
    '',
    '01',
    '1.',
    '.5',
    '+1',
    '[1,]',
    '{"a"}',
    "'a'",
    '"a',
    '"\n"',
    'nul',
    'nan',
    '1 2',
    '"\\x41"',
  ])('not %s', (text) => expect(parsePythonJson(text)).toBeUndefined())
})

test('JSON nested too deep for Python is refused', () => {
  expect(parsePythonJson(`${'['.repeat(900)}${']'.repeat(900)}`)).toBeDefined()
  expect(parsePythonJson(`${'['.repeat(1000)}${']'.repeat(1000)}`)).toBeUndefined()
})

// Returned values and expected values; each pair is compared by both languages.
const returned = [
  'None',
  'True',
  'False',
  '0',
  '1',
  '-1',
  '2**70',
  '2**53 + 1',
  '10**400',
  '0.0',
  '-0.0',
  '1.0',
  '0.1',
  '1e308',
  '5e-324',
  'float("inf")',
  'float("nan")',
  '9007199254740992.0',
  '9007199254740993',
  '1+0j',
  '1j',
  'complex("nan")',
  'Decimal("1.0")',
  'Decimal("0.1")',
  'Decimal(0.1)',
  'Decimal("-0E+5")',
  'Decimal("Infinity")',
  'Decimal("NaN")',
  'Decimal("1E+400")',
  'Decimal("1E+999999")',
  'Fraction(1, 2)',
  'Fraction(1, 3)',
  'Fraction(2, 1)',
  'Fraction(3602879701896397, 36028797018963968)',
  '""',
  '"a"',
  '"é\\ud800"',
  'b"a"',
  '[]',
  '[1]',
  '[True]',
  '[1.0, [2]]',
  '(1,)',
  '()',
  'set()',
  '{1}',
  'frozenset({1})',
  '{}',
  '{"a": 1}',
  '{"a": True, "b": [1, 2.0]}',
  '{1: 1}',
  '{"b": [1, 2], "a": 1}',
  'Counter("aab")',
  'OrderedDict(a=1)',
  'defaultdict(int, a=1)',
  'namedtuple("P", "x")(1)',
  'IntEnum("E", "A")["A"]',
  'range(1)',
  'iter([])',
  'object()',
  'lambda: 1',
  'deque([1])',
  'type("S", (str,), {})("a")',
  'type("F", (float,), {})(0.1)',
]
const opinionated: ReadonlyArray<readonly [string, readonly string[]]> = [
  ['type("L", (list,), {"__eq__": lambda s, o: True})([1])', ['[1]']],
  ['type("I", (int,), {"__eq__": lambda s, o: True, "__hash__": int.__hash__})(5)', []],
  ['type("S", (str,), {"__eq__": lambda s, o: True, "__str__": lambda s: "b"})("a")', ['"a"']],
  ['type("D", (dict,), {"__eq__": lambda s, o: True, "items": lambda s: []})(a=1)', ['{"a": 1}']],
  ['type("O", (), {"__eq__": lambda s, o: True})()', []],
  [
    'type("C", (), {"__class__": property(lambda s: int), "__eq__": lambda s, o: True, "__index__": lambda s: 1})()',
    [],
  ],
  ['type("T", (tuple,), {"__eq__": lambda s, o: True, "__class__": property(lambda s: list)})([1])', []],
]
const expectedTexts = [
  'null',
  'true',
  'false',
  '0',
  '1',
  '-1',
  '1180591620717411303424',
  '9007199254740993',
  '9007199254740992.0',
  `1${'0'.repeat(400)}`,
  '0.0',
  '1.0',
  '0.1',
  '0.5',
  '2.0',
  '1e308',
  '5e-324',
  '1e400',
  'NaN',
  'Infinity',
  '""',
  '"a"',
  '"\\u00e9\\ud800"',
  '[]',
  '[1]',
  '[1, [2.0]]',
  '{}',
  '{"a": 1}',
  '{"b": [1.0, 2], "a": 1}',
  '{"a": 2, "b": 1}',
  '{"1": 1}',
]
const program = `
import json
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

def value(source):
    return eval(source)

def verdicts(source, texts):
    return [eval(source) == json.loads(text) for text in texts]
`

test('equality matches Python for every pair of returned and expected values', async () => {
  // All cases are one job, which may take a while.
  await new SandboxPool({ infrastructureSeconds: 600 }).job(undefined, async (job) => {
    const sandbox = await job.open()
    const call = async (entry: string, ...given: unknown[]) => {
      const work = { mode: 'function', source: program, preamble: [], method: false, entry } as const
      const json = given.map((argument) => JSON.stringify(argument))
      const { message } = await runCase(sandbox, { ...work, arguments: json }, patientLimits)
      if (message === undefined || !('value' in message)) throw new Error(JSON.stringify(message))
      return decodePlain(message.value)!
    }
    for (const source of returned) {
      const value = await call('value', source)
      const theirs = await call('verdicts', source, expectedTexts)
      const ours = expectedTexts.map((text) => equalsExpected(value, parsePythonJson(text)!))
      const items = ours.map((equal) => ({ kind: 'bool', value: equal }))
      expect({ source, verdicts: { kind: 'list', items } }).toEqual({ source, verdicts: theirs })
    }
    // Objects with a custom __eq__ are compared by their contents.
    for (const [source, held] of opinionated) {
      const value = await call('value', source)
      const equal = expectedTexts.filter((text) => equalsExpected(value, parsePythonJson(text)!))
      expect({ source, equal }).toEqual({ source, equal: held })
    }
  })
})

test('hand-written output is plain data or refused, never an exception', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 3 }), (tagged, expected) => {
      const value = decodePlain(tagged)
      if (value !== undefined) equalsExpected(value, parsePythonJson(JSON.stringify(expected))!)
    }),
  )
  const tags = fc.constantFrom('i', 'f', 'c', 'b', 'D', 'F', 'l', 't', 'd', 's', 'z', 'o', 'x')
  const scalar = fc.oneof(
    fc.string(),
    fc.constantFrom('0x1', '-0xff', '0x', '1.5', 'nan', '-inf', '0x0', 'zz'),
    fc.integer(),
  )
  fc.assert(
    fc.property(tags, fc.array(scalar, { maxLength: 3 }), (tag, rest) => {
      const value = decodePlain([tag, ...rest])
      if (value !== undefined) equalsExpected(value, { kind: 'int', value: 1n })
    }),
  )
})

test('an absurdly long number equals nothing and is not evaluated', () => {
  const zeros = '0'.repeat(1_000_000)
  const numbers = [
    ['i', `0x${zeros}1`],
    ['D', `1e${zeros}`],
    ['F', `0x${zeros}1`, '0x1'],
    ['F', '0x1', `0x${zeros}1`],
  ]
  const types = ['int', 'Decimal', 'Fraction', 'Fraction']
  const values = numbers.map((number) => decodePlain(number)!)
  expect(values).toEqual(types.map((type) => ({ kind: 'opaque', type: `very large ${type}` })))
  for (const value of values) expect(equalsExpected(value, { kind: 'int', value: 1n })).toBe(false)
})

test('a dictionary with a duplicate key equals nothing', () => {
  const value = decodePlain(['d', 'a', 1, 'a', 1])!
  expect(equalsExpected(value, parsePythonJson('{"a": 1}')!)).toBe(false)
})
