import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DataError } from '../sources/data-error.ts'
import { parseCsv } from './csv.ts'

const cells = (text: string) => parseCsv(text, 'a.csv').map((record) => record.cells)

describe('parseCsv', () => {
  test.each([
    [
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\r\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      '\ufeffa,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['a,,\n', [['a', '', '']]],
    ['"a,b","say ""hi""","two\r\nlines"\n', [['a,b', 'say "hi"', 'two\r\nlines']]],
    ['a\n\n\r\nb\n', [['a'], ['b']]],
    ['""\n', [['']]],
    ['', []],
    [' a , b \n', [[' a ', ' b ']]],
  ])('%j', (text, expected) => {
    expect(cells(text)).toEqual(expected)
  })

  test('reports the line where a record begins', () => {
    const lines = parseCsv('a\n"x\n\ny"\n\nb\r\n', 'a.csv').map(({ line }) => line)
    expect(lines).toEqual([1, 2, 6])
  })

  test.each([
    ['a,b"c\n', 'a.csv, row 1: has a quote inside a cell'],
    ['a\n"b"c\n', 'a.csv, row 2: has text after a closing quote'],
    ['a\n"b\nc\n', 'a.csv, row 2: has a quoted cell that never ends'],
    ['a\rb\r', 'a.csv, row 1: has a carriage return without a line feed'],
    ['"a"\rb', 'a.csv, row 1: has text after a closing quote'],
  ])('refuses %j', (text, message) => {
    expect(() => parseCsv(text, 'a.csv')).toThrow(message)
  })

  const cell = fc.string({
    unit: fc.constantFrom('a', 'b', ' ', ',', '"', '\n', '\r', ';', 'é', '😀', '\ufeff'),
  })
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { maxLength: 8 })

  test('round-trips cells that are all quoted', () => {
    fc.assert(
      fc.property(table, fc.constantFrom('\n', '\r\n'), fc.boolean(), (rows, end, last) => {
        const lines = rows.map((row) => row.map((one) => `"${one.replaceAll('"', '""')}"`).join(','))
        const text = lines.join(end) + (last && rows.length > 0 ? end : '')
        expect(cells(text)).toEqual(rows)
      }),
    )
  })

  test('round-trips cells quoted only where needed', () => {
    const bare = (one: string) => (/[",\r\n]|^\ufeff/.test(one) ? `"${one.replaceAll('"', '""')}"` : one)
    fc.assert(
      fc.property(table, (rows) => {
        expect(cells(rows.map((row) => row.map(bare).join(',')).join('\r\n'))).toEqual(rows)
      }),
    )
  })

  test('gives records or a DataError for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r') }), (text) => {
        try {
          parseCsv(text, 'a.csv')
        } catch (error) {
          expect(error).toBeInstanceOf(DataError)
        }
      }),
    )
  })

  test('takes linear time: a megabyte of quotes or commas is read', () => {
    expect(cells(`"${'""'.repeat(500_000)}"`)[0]![0]).toHaveLength(500_000)
    expect(cells(','.repeat(1_000_000))[0]).toHaveLength(1_000_001)
  })
})
