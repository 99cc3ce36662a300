import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../library/json-value.ts'
import {
  boundedFields,
  boundedString,
  boundedText,
  boundedValue,
  codePoints,
  shortestCut,
} from './length-budget.ts'

const anyText = fc.string({ unit: 'binary', maxLength: 400 })
const awkward = fc
  .array(fc.constantFrom('a', '"', '\\', '\n', '\u0000', '😀', '\ud83d', '\ude00', 'é', '\u2028'), {
    maxLength: 400,
  })
  .map((parts) => parts.join(''))

test('counts code points, not UTF-16 units', () => {
  expect(codePoints('a😀é')).toBe(3)
  expect(codePoints('\ud83d')).toBe(1)
  expect(codePoints('\ude00\ud83d')).toBe(2)
  fc.assert(
    fc.property(fc.oneof(anyText, awkward), (text) => {
      expect(codePoints(text)).toBe([...text].length)
    }),
  )
})

describe('a text', () => {
  test('within its budget is unchanged', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, awkward), (text) => {
        const whole = JSON.stringify(text)
        expect(boundedString(text, codePoints(whole) - 2)).toBe(whole)
        expect(boundedText(text, codePoints(whole) - 2)).toBe(text)
      }),
    )
  })

  test('over budget is cut between characters, and says how much is missing', () => {
    fc.assert(
      fc.property(
        fc.oneof(anyText, awkward).map((text) => text.repeat(3)),
        fc.integer({ min: shortestCut, max: 300 }),
        (text, budget) => {
          const json = boundedString(text, budget)
          expect(codePoints(json) - 2).toBeLessThanOrEqual(budget)
          const said = JSON.parse(json) as string
          if (said === text) return
          const [, start, missing] = /^(.*) … \[cut: (\d+) more characters\]$/s.exec(said)!
          expect(text.startsWith(start!)).toBe(true)
          expect(codePoints(start!) + Number(missing)).toBe(codePoints(text))
          // The tail does not begin inside a character.
          expect([...text].slice(0, codePoints(start!)).join('')).toBe(start)
          expect(boundedText(text, budget)).toBe(said)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('a surrogate pair at the cut is kept or dropped as a whole', () => {
    const budget = 200
    for (let before = 150; before < 200; before += 1) {
      const said = JSON.parse(boundedString(`${'x'.repeat(before)}${'😀'.repeat(300)}`, budget)) as string
      expect(said.isWellFormed()).toBe(true)
      expect([...said].length).toBeLessThanOrEqual(budget)
    }
  })

  test('a megabyte of control characters is cut', () => {
    const said = boundedString('\u0000'.repeat(1_000_000), 1000)
    expect(codePoints(said)).toBeLessThanOrEqual(1002)
    expect(said).toMatch(/\[cut: 999\d{3} more characters\]"$/)
  })
})

describe('a value', () => {
  test('stays within its budget and stays JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 200, max: 2000 }), (json, budget) => {
        const value = JSON.parse(JSON.stringify([json, 'x'.repeat(500), json])) as JsonValue
        const text = boundedValue(value, budget)
        expect(codePoints(text)).toBeLessThanOrEqual(budget)
        JSON.parse(text)
      }),
    )
  })

  test('is cut in its longest texts first', () => {
    const text = boundedValue({ a: 'short', b: 'x'.repeat(5000), c: ['y'.repeat(900)], n: 5 }, 2000)
    const cut = JSON.parse(text) as { a: string; b: string; c: string[]; n: number }
    expect([cut.a, cut.n, cut.c[0]]).toEqual(['short', 5, 'y'.repeat(900)])
    expect(cut.b).toMatch(/^x+ … \[cut: \d+ more characters\]$/)
    expect(text.length).toBe(2000)
  })

  test('with too many parts becomes a text', () => {
    const text = boundedValue(
      Array.from({ length: 1000 }, (_, index) => index),
      300,
    )
    expect(JSON.parse(text)).toMatch(/^\[0,1,2,.* … \[cut: /)
  })

  test('keys such as __proto__ are ordinary', () => {
    const value = JSON.parse(
      `{"__proto__":{"x":"${'x'.repeat(500)}"},"b":"${'y'.repeat(500)}"}`,
    ) as JsonObject
    const cut = JSON.parse(boundedValue(value, 400)) as JsonObject
    expect(Object.keys(cut)).toEqual(['__proto__', 'b'])
  })
})

test('fields share a budget even when they have too many parts', () => {
  const many = Array.from({ length: 2000 }, (_, index) => String(index))
  const text = boundedFields({ task: { question: 'q', context: many }, predecessors: [] }, 1000)
  expect(codePoints(text)).toBeLessThanOrEqual(1000)
  expect(Object.keys(JSON.parse(text) as object)).toEqual(['task', 'predecessors'])
})
