import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { freeText } from '../../library/answer-contract.ts'
import type { JsonValue } from '../../library/json-value.ts'
import { keptDepth, parseFinalResponse, toStorable } from './response.ts'

function reasonOf(text: string): string | undefined {
  const response = parseFinalResponse(text, freeText)
  return 'reason' in response ? response.reason : undefined
}

const isValid = (text: string) => reasonOf(text) !== 'invalid_json'

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return 'invalid'
  }
}

describe('against JSON.parse', () => {
  test('agrees on which texts are JSON', () => {
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '"a"',
        '"\\n"',
        '\\',
        '\\u00',
        '0',
        '-',
        '1',
        '.',
        'e',
        'E+',
        ' ',
        '\n',
      ],
      ...['true', 'nul', 'null', 'NaN', '\u00a0', '\ufeff', '\u2028', '//', "'"],
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        expect(isValid(text)).toBe(parsed(text) !== 'invalid')
      }),
      { numRuns: 20_000 },
    )
  })

  test.each(
    '|0|-0|-|01|-01|1.|.5|1.5e|1.5e+|1.5E-7|1e999|+1|0x1|1_0|--1|0.0.0|"|"\\"|"\\x"|"\\u12"|"\\u12G4"|"\t"|"\u007f"|tru|truex|nullnull|[1,]|[,1]|[1 2]|{"a"}|{"a":}|{"a":1,}|{,}|{"a":1 "b":2}|{1:2}|[}|{]|[]]|[1|{"a":1'.split(
      '|',
    ),
  )('%j', (text) => {
    expect(isValid(text)).toBe(parsed(text) !== 'invalid')
  })
})

describe('duplicate keys', () => {
  const duplicate = (text: string) => reasonOf(text) === 'duplicate_key'

  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '[[{"x":{"b":1,"c":2,"b":3}}]]',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
  ])('in %s', (text) => {
    expect(duplicate(text)).toBe(true)
  })

  test.each([
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":1,"A":1}',
    '{"é":1,"e\\u0301":2}',
    '{"\\ud800":1,"\\ud801":2}',
  ])('not in %s', (text) => {
    expect(duplicate(text)).toBe(false)
  })

  test('are found below the depth that is kept', () => {
    const nest = (inner: string) => '{"a":'.repeat(keptDepth + 5) + inner + '}'.repeat(keptDepth + 5)
    expect(duplicate(nest('{"b":1,"c":2}'))).toBe(false)
    expect(duplicate(nest('{"b":1,"c":2,"b":3}'))).toBe(true)
    expect(duplicate(nest('{"b":1,"c":[{"c":1,"c":1}]}'))).toBe(true)
  })
})

describe('depth', () => {
  test('a million brackets do not overflow the stack', () => {
    const million = 1_000_000
    expect(isValid('['.repeat(million))).toBe(false)
    expect(isValid('['.repeat(million) + ']'.repeat(million))).toBe(true)
    expect(isValid(`${'{"a":['.repeat(million)}0${']}'.repeat(million)}`)).toBe(true)
  })

  test('values below the depth limit become null and are reported', () => {
    const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    expect(toStorable(nested(keptDepth + 1))).toEqual({ value: nested(keptDepth + 1), whole: true })
    const { value: kept, whole } = toStorable(nested(keptDepth + 2))
    expect(whole).toBe(false)
    expect(JSON.stringify(kept)).toBe(`${'['.repeat(keptDepth)}null${']'.repeat(keptDepth)}`)
  })

  test('a million levels can be stored too', () => {
    const million = 1_000_000
    const json = JSON.parse('['.repeat(million) + ']'.repeat(million)) as JsonValue
    expect(toStorable(json).whole).toBe(false)
  })
})
