import fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import { plainScreen } from '../../../test/plain-screen.ts'
import type { Screen } from './screen.ts'
import { type ShownTable, tableLines } from './table.ts'

const terminalTable = (table: ShownTable, screen: Screen) => screen.text(tableLines(table, screen))

const results: ShownTable = {
  columns: ['organisation', 'score', 'tokens'],
  rows: [
    ['direct answer', '41.2 % [35.0, 48.0]', '812'],
    ['all roles in parallel, then summarized', '55.0 % [48.0, 62.0]', '12.3 k'],
    ['trained', '70.0 % [63.0, 76.0]', '5.43 k'],
  ],
  emphasised: 2,
}

test('text is left-aligned, numbers right-aligned, and the highlighted row is marked', () => {
  expect(terminalTable(results, plainScreen())).toBe(
    [
      '  organisation                                          score  tokens',
      '  ───────────────────────────────────────────────────────────────────',
      '  direct answer                           41.2 % [35.0, 48.0]     812',
      '  all roles in parallel, then summarized  55.0 % [48.0, 62.0]  12.3 k',
      '▸ trained                                 70.0 % [63.0, 76.0]  5.43 k',
      '',
    ].join('\n'),
  )
})

test('on narrow screens text is cut', () => {
  expect(terminalTable({ ...results, emphasised: undefined }, plainScreen(44))).toBe(
    [
      'organisation                   score  tokens',
      '────────────────────────────────────────────',
      'direct answer    41.2 % [35.0, 48.0]     812',
      'all roles in p…  55.0 % [48.0, 62.0]  12.3 k',
      'trained          70.0 % [63.0, 76.0]  5.43 k',
      '',
    ].join('\n'),
  )
})

test('on very narrow screens every row becomes a list, and numbers are never cut', () => {
  expect(terminalTable(results, plainScreen(32, true))).toBe(
    [
      'direct answer',
      '  score   41.2 % [35.0, 48.0]',
      '  tokens  812',
      'all roles in parallel, then sum.',
      '  score   55.0 % [48.0, 62.0]',
      '  tokens  12.3 k',
      '> trained',
      '  score   70.0 % [63.0, 76.0]',
      '  tokens  5.43 k',
      '',
    ].join('\n'),
  )
})

test('a number too wide to sit beside its name goes below it', () => {
  const [, ...lines] = terminalTable(results, plainScreen(24)).split('\n')
  expect(lines.slice(0, 3)).toEqual(['  score', '    41.2 % [35.0, 48.0]', '  tokens  812'])
})

test('wide characters stay aligned', () => {
  const table = {
    columns: ['name', 'n'],
    rows: [
      ['東京', '1'],
      ['x', '22'],
    ],
  }
  expect(terminalTable(table, plainScreen()).split('\n').slice(2, 4)).toEqual(['東京   1', 'x     22'])
})

const anyTable = fc.record({
  columns: fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 }),
  rows: fc.array(fc.array(fc.string({ unit: 'binary', maxLength: 60 }), { maxLength: 6 }), { maxLength: 6 }),
  texts: fc.constantFrom([], [0]),
  emphasised: fc.option(fc.nat({ max: 6 }), { nil: undefined }),
})

test('tables never exceed the screen or drive the terminal', () => {
  fc.assert(
    fc.property(anyTable, fc.integer({ min: 10, max: 90 }), (table, columns) => {
      const text = terminalTable(table, plainScreen(columns))
      for (const line of text.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns)
      expect(text.replaceAll('\n', '')).toMatch(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u)
    }),
  )
})
