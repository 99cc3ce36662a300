import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import { cutText, padText, type Screen, shownText } from './screen.ts'

export interface ShownTable {
  readonly columns: readonly TableColumn[]
  /** Texts in the order of the columns. */
  readonly rows: readonly (readonly string[])[]
  /** Indices of the rows that matter most. */
  readonly emphasised?: readonly number[]
}

export interface TableColumn {
  readonly header: string
  /** Numbers stand to the right and are never cut. */
  readonly kind?: 'text' | 'number'
}

const gap = '  '
const narrowestText = 8

/**
 * Aligned columns for a terminal. Where they do not fit, the widest text is cut first; where that is not enough, every row
 * becomes a small list, because a number that is cut is a wrong number.
 */
export function terminalTable({ columns, rows, emphasised = [] }: ShownTable, screen: Screen): string {
  const headers = columns.map(({ header }) => shownText(header, screen))
  const cells = rows.map((row) => headers.map((_, column) => shownText(row[column] ?? '', screen)))
  // Seen without colour too.
  const pointer = emphasised.length === 0 ? '' : '▸ '
  const widths = fittingWidths(columns, [headers, ...cells], screen.columns - pointer.length)
  if (widths === undefined) return stacked(headers, cells, emphasised, screen)
  const line = (row: readonly string[]) =>
    aligned(
      row.map((cell, column) => cutText(cell, widths[column]!, screen)),
      widths,
      columns,
    )
      .join(gap)
      .trimEnd()
  const margin = ' '.repeat(pointer.length)
  const rule = '─'.repeat(widths.reduce((sum, width) => sum + width, (widths.length - 1) * gap.length))
  const lines = [
    `${margin}${screen.paint('bold', line(headers))}`,
    `${margin}${screen.paint('dim', rule)}`,
    ...cells.map((row, index) =>
      emphasised.includes(index) ? screen.paint('bold', `${pointer}${line(row)}`) : `${margin}${line(row)}`,
    ),
  ]
  return lines.map((text) => `${text}\n`).join('')
}

/** Cells of a row, padded to the widths of their columns. */
export function aligned(
  row: readonly string[],
  widths: readonly number[],
  columns: readonly TableColumn[],
): string[] {
  return row.map((cell, column) =>
    padText(cell, widths[column]!, columns[column]!.kind === 'number' ? 'right' : 'left'),
  )
}

export function columnWidths(rows: readonly (readonly string[])[]): number[] {
  return rows[0]!.map((_, column) => Math.max(...rows.map((row) => stringWidth(row[column]!))))
}

/** Widths of the columns, or nothing where they cannot stand side by side. */
function fittingWidths(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  room: number,
): number[] | undefined {
  const widths = columnWidths(rows)
  const texts = [...columns.keys()].filter((column) => columns[column]!.kind !== 'number')
  const excess = () => widths.reduce((sum, width) => sum + width, (widths.length - 1) * gap.length) - room
  while (excess() > 0) {
    const widest = texts.reduce((a, b) => (widths[b]! > widths[a]! ? b : a), texts[0] ?? -1)
    if (widest < 0 || widths[widest]! <= narrowestText) return undefined
    widths[widest]! -= 1
  }
  return widths
}

/** A cell that does not fit beside its name goes below it, whole. */
function stacked(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  emphasised: readonly number[],
  screen: Screen,
): string {
  const [, ...names] = headers
  const width = Math.max(0, ...names.map((name) => stringWidth(name)))
  const lines = rows.flatMap(([title = '', ...cells], index) => {
    const heading = `${emphasised.includes(index) ? '▸ ' : ''}${title}`
    const fields = cells.flatMap((cell, column) => {
      const line = `  ${padText(names[column]!, width)}  ${cell}`
      if (cell === '') return []
      if (stringWidth(line) <= screen.columns) return [line]
      const broken = wrapAnsi(cell, Math.max(2, screen.columns - 4), { hard: true }).split('\n')
      return [cutText(`  ${names[column]!}`, screen.columns, screen), ...broken.map((part) => `    ${part}`)]
    })
    return [screen.paint('bold', cutText(heading, screen.columns, screen)), ...fields]
  })
  return lines.map((text) => `${text}\n`).join('')
}
