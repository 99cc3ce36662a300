import { z } from 'zod'
import type { Table } from '../../library/task.ts'
import { type Tool, type ToolObservation, toolError } from './tool.ts'

const place = z.union([z.string(), z.int().nonnegative()])
const columns = z.array(place).min(1).max(50).optional()
const comparisons = ['=', '!=', '<', '<=', '>', '>=', 'contains'] as const
const orders: Partial<Record<(typeof comparisons)[number], (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
}

const payload = z.discriminatedUnion('operation', [
  z.object({ operation: z.literal('list') }),
  z.object({
    operation: z.literal('slice'),
    table: place.default(0),
    from: z.int().nonnegative().default(0),
    to: z.int().nonnegative().optional(),
    columns,
  }),
  z.object({ operation: z.literal('lookup'), table: place.default(0), row: place, column: place.optional() }),
  z.object({
    operation: z.literal('filter'),
    table: place.default(0),
    column: place,
    compare: z.enum(comparisons).default('='),
    value: z.union([z.string(), z.number()]),
    columns,
  }),
])

type Request = z.infer<typeof payload>
type Of<Operation extends Request['operation']> = Extract<Request, { operation: Operation }>

export const tableReader: Tool<Request> = {
  name: 'table_reader',
  description:
    'table_reader reads cells of the task\'s tables: {"operation": "list"}; {"operation": "slice", "table": 0, "from": 0, ' +
    '"to": 5, "columns": ["Year"]}; {"operation": "lookup", "row": "Revenue", "column": "2019"}; {"operation": "filter", ' +
    `"column": "Year", "compare": ">", "value": 2000} with ${comparisons.join(' ')}. Tables and columns go by name or ` +
    'number, rows by number or by the text of their first cell; numbers start at 0.',
  payload,
  async run(request, { tables = [] }) {
    if (tables.length === 0) return toolError('failed', 'This task has no tables.')
    try {
      return { status: 'ok', result: read(request, tables) }
    } catch (problem) {
      if (problem instanceof NotThere) return toolError('failed', problem.message)
      throw problem
    }
  },
}

/** A requested table, row or column does not exist. */
class NotThere extends Error {}

type Result = Extract<ToolObservation, { status: 'ok' }>['result']

function read(request: Request, tables: readonly Table[]): Result {
  if (request.operation === 'list') return { tables: tables.map(describe) }
  const names = tables.map((table) => table.name)
  const table = tables[find(request.table, names, 'table')]!
  if (request.operation === 'slice')
    return show(table, rowNumbers(table).slice(request.from, request.to), request.columns)
  return request.operation === 'lookup' ? lookUp(table, request) : filter(table, request)
}

function describe(table: Table, number: number): Result {
  const { name, caption, header, rows } = table
  const shown = { number, name, ...(caption && { caption }), header: header ?? null }
  return { ...shown, rows: rows.length, first_cells: firstCells(table) }
}

function firstCells({ rows }: Table): string[] {
  return rows.slice(0, mostRowsListed).map((row) => row[0] ?? '')
}

function lookUp(table: Table, { row, column }: Of<'lookup'>): Result {
  const found = rowNumbers(table).filter((number) =>
    typeof row === 'number' ? number === row : sameText(table.rows[number]![0] ?? '', row),
  )
  if (found.length === 0) {
    const known = firstCells(table).join(' | ')
    throw new NotThere(`No row '${row}'. There are ${table.rows.length} rows; first cells: ${known}`)
  }
  return show(table, found, column === undefined ? undefined : [column])
}

function filter(table: Table, { column, compare, value, columns: wanted }: Of<'filter'>): Result {
  const index = columnIndex(table, column)
  const fits = (number: number) => agrees(table.rows[number]![index] ?? '', compare, value)
  return show(table, rowNumbers(table).filter(fits), wanted)
}

function agrees(cell: string, compare: Of<'filter'>['compare'], value: string | number): boolean {
  if (compare === 'contains') return normal(cell).includes(normal(String(value)))
  const left = cellNumber(cell)
  const right = typeof value === 'number' ? value : cellNumber(value)
  const numeric = left !== undefined && right !== undefined
  if (compare === '=' || compare === '!=') {
    const same = numeric ? left === right : sameText(cell, String(value))
    return same === (compare === '=')
  }
  return numeric && orders[compare]!(left, right)
}

const mostRowsListed = 30
const mostCells = 400
const longestCell = 300

/** Rows with their numbers, so that a later request can name them. Long results are cut and marked. */
function show(table: Table, numbers: readonly number[], wanted?: readonly (string | number)[]): Result {
  const width = table.rows.reduce((most, row) => Math.max(most, row.length), table.header?.length || 1)
  const indexes = wanted?.map((column) => columnIndex(table, column)) ?? [...Array(width).keys()]
  const room = Math.max(1, Math.floor(mostCells / indexes.length))
  const cut = (cell: string) => (cell.length > longestCell ? `${cell.slice(0, longestCell)} … [cut]` : cell)
  return {
    table: table.name,
    ...(table.header && { columns: indexes.map((index) => table.header![index] ?? '') }),
    rows: numbers.slice(0, room).map((number) => ({
      row: number,
      cells: indexes.map((index) => cut(table.rows[number]![index] ?? '')),
    })),
    ...(numbers.length > room && { more_rows: numbers.length - room }),
  }
}

function rowNumbers(table: Table): number[] {
  return [...table.rows.keys()]
}

function columnIndex(table: Table, column: string | number): number {
  // Without a header, the first row holds the column names.
  return find(column, table.header ?? table.rows[0] ?? [], 'column')
}

function find(wanted: string | number, names: readonly string[], what: string): number {
  const index = typeof wanted === 'number' ? wanted : names.findIndex((name) => sameText(name, wanted))
  if (index >= 0 && index < names.length) return index
  // A model may write a number as text.
  if (typeof wanted === 'string' && /^\d{1,3}$/.test(wanted) && Number(wanted) < names.length)
    return Number(wanted)
  throw new NotThere(
    `No ${what} '${wanted}'. There are: ${names.map((name, at) => `${at} '${name}'`).join(', ')}`,
  )
}

function sameText(a: string, b: string): boolean {
  return normal(a) === normal(b)
}

function normal(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase()
}

const plainNumber = /^[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?$/

/** The number a cell shows: `$1,234.5`, `12 %`, `(3.2)` for a negative number, `−5`. Undefined for other text. */
export function cellNumber(cell: string): number | undefined {
  const text = cell.trim()
  if (text.length > 40) return undefined
  const [, inner] = /^\((.*)\)$/.exec(text) ?? []
  const bare = (inner ?? text)
    .replace(/[−–]/, '-')
    .replace(/[$€£¥%]/g, '')
    .replace(/\s+/g, '')
  if (!/\d/.test(bare) || !plainNumber.test(bare)) return undefined
  const value = Number(bare.replaceAll(',', ''))
  return inner === undefined ? value : -Math.abs(value)
}
