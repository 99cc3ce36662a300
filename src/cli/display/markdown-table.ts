import { shownText } from './screen.ts'
import { aligned, columnWidths, type ShownTable } from './table.ts'

/** The table as GitHub and most documentation tools read it, aligned so that its source reads well too. */
export function markdownTable({ columns, rows, emphasised = [] }: ShownTable): string {
  const headers = columns.map(({ header }) => escaped(header))
  const body = rows.map((row, index) =>
    columns.map((_, column) => {
      const cell = escaped(row[column] ?? '')
      return emphasised.includes(index) && cell !== '' ? `**${cell}**` : cell
    }),
  )
  const widths = columnWidths([headers, ...body]).map((width) => Math.max(3, width))
  const rule = columns.map(({ kind }, column) =>
    kind === 'number' ? `${'-'.repeat(widths[column]! - 1)}:` : '-'.repeat(widths[column]!),
  )
  return [headers, rule, ...body].map((row) => `| ${aligned(row, widths, columns).join(' | ')} |\n`).join('')
}

/**
 * What Markdown would read as markup is taken literally. `_` within a word and brackets around an interval are
 * safe, so that names and numbers keep their looks.
 */
function escaped(text: string): string {
  return shownText(text, { ascii: false })
    .trim()
    .replace(/[\\|`*<>&~$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|\[(?=[^\]]*\][([:])/gu, (sign) => `\\${sign}`)
}
