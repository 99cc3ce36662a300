import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJson } from './json-reader.ts'
import { keptDepth, toStorable } from './storable.ts'

function value(text: string): unknown {
  const reading = readJson(text)
  return reading.valid ? reading.value : 'invalid'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return 'invalid'
  }
}

describe('against JSON.parse', () => {
  test('reads what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t', '\r\n '), (json, indent) => {
        const text = JSON.stringify(json, null, indent)
        expect(value(text)).toEqual(JSON.parse(text))
      }),
    )
  })

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
        expect(readJson(text).valid).toBe(parsed(text) !== 'invalid')
      }),
      { numRuns: 20_000 },
    )
  })

  test.each(
    '|0|-0|-|01|-01|1.|.5|1.5e|1.5e+|1.5E-7|1e999|+1|0x1|1_0|--1|0.0.0|"|"\\"|"\\x"|"\\u12"|"\\u12G4"|"\t"|"\u007f"|tru|truex|nullnull|[1,]|[,1]|[1 2]|{"a"}|{"a":}|{"a":1,}|{,}|{"a":1 "b":2}|{1:2}|[}|{]|[]]|[1|{"a":1'.split(
      '|',
    ),
  )('%j', (text) => {
    expect(value(text)).toEqual(parsed(text))
  })
})

describe('duplicate keys', () => {
  const duplicate = (text: string) => {
    const reading = readJson(text)
    return reading.valid && reading.duplicateKey
  }

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

  test('beyond the depth that is kept', () => {
    const nest = (inner: string) => '{"a":'.repeat(keptDepth + 5) + inner + '}'.repeat(keptDepth + 5)
    expect(duplicate(nest('{"b":1,"c":2}'))).toBe(false)
    expect(duplicate(nest('{"b":1,"c":2,"b":3}'))).toBe(true)
    expect(duplicate(nest('{"b":1,"c":[{"c":1,"c":1}]}'))).toBe(true)
  })
})

describe('depth', () => {
  test('a million brackets take no stack', () => {
    const million = 1_000_000
    expect(readJson('['.repeat(million)).valid).toBe(false)
    expect(readJson('['.repeat(million) + ']'.repeat(million)).valid).toBe(true)
    expect(readJson(`${'{"a":['.repeat(million)}0${']}'.repeat(million)}`).valid).toBe(true)
  })

  test('what lies deeper than is kept becomes null, and is told', () => {
    const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    expect(toStorable(nested(keptDepth + 1))).toEqual({ value: nested(keptDepth + 1), whole: true })
    const { value: kept, whole } = toStorable(nested(keptDepth + 2))
    expect(whole).toBe(false)
    expect(JSON.stringify(kept)).toBe(`${'['.repeat(keptDepth)}null${']'.repeat(keptDepth)}`)
  })

  test('a million levels can be stored, too', () => {
    const million = 1_000_000
    const reading = readJson('['.repeat(million) + ']'.repeat(million))
    expect(reading.valid && toStorable(reading.value).whole).toBe(false)
  })
})
