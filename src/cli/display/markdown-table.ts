import { plainScreen, shownText } from './screen.ts'
import type { Table } from './table.ts'
import { padToWidth, textWidth } from './text-width.ts'

/** The table as GitHub and most documentation tools read it, aligned so that its source reads well too. */
export function markdownTable({ columns, rows, emphasised = [] }: Table): string {
  const important = new Set(emphasised)
  const headers = columns.map(({ header }) => escaped(header))
  const body = rows.map((row, index) =>
    columns.map((_, column) => {
      const cell = escaped(row[column] ?? '')
      return important.has(index) && cell !== '' ? `**${cell}**` : cell
    }),
  )
  const widths = headers.map((header, column) =>
    Math.max(3, textWidth(header), ...body.map((row) => textWidth(row[column]!))),
  )
  const isNumber = (column: number) => columns[column]!.kind === 'number'
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => padToWidth(cell, widths[column]!, isNumber(column) ? 'right' : 'left')).join(' | ')} |\n`
  const rule = widths.map((width, column) =>
    isNumber(column) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  )
  return [headers, rule, ...body].map(line).join('')
}

/**
 * What Markdown would read as markup is taken literally. `_` within a word and brackets around an interval are
 * safe, so that names and numbers keep their looks.
 */
function escaped(text: string): string {
  return shownText(text, plainScreen())
    .trim()
    .replace(/[\\|`*<>&~$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|\[(?=[^\]]*\][([:])/gu, (sign) => `\\${sign}`)
}
