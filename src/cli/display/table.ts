import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import { cutText, padText, type Screen, shownText } from './screen.ts'

export interface ShownTable {
  readonly columns: readonly TableColumn[]
  /** Texts in the order of the columns. */
  readonly rows: readonly (readonly string[])[]
  /** Index of the row that matters most. */
  readonly emphasised?: number
}

export interface TableColumn {
  readonly header: string
  /** Numbers stand to the right and are never cut. */
  readonly kind?: 'text' | 'number'
}

/** One column of text, then numbers. */
export function numberColumns(first: string, numbers: readonly string[]): TableColumn[] {
  return [{ header: first }, ...numbers.map((header) => ({ header, kind: 'number' as const }))]
}

const gap = '  '
const narrowestText = 8

/**
 * Aligned columns for a terminal. Where they do not fit, the widest text is cut first; where that is not enough, every row
 * becomes a small list, because a number that is cut is a wrong number.
 */
export function tableLines({ columns, rows, emphasised }: ShownTable, screen: Screen): string[] {
  const headers = columns.map(({ header }) => shownText(header))
  const cells = rows.map((row) => headers.map((_, column) => shownText(row[column] ?? '')))
  // Seen without colour too.
  const pointer = (index: number) => (emphasised === undefined ? '' : index === emphasised ? '▸ ' : '  ')
  const widths = fittingWidths(columns, [headers, ...cells], screen.columns - pointer(0).length)
  if (widths === undefined) return stacked(headers, cells, emphasised, screen)
  const line = (row: readonly string[]) => {
    const padded = row.map((cell, column) =>
      padText(
        cutText(cell, widths[column]!),
        widths[column]!,
        columns[column]!.kind === 'number' ? 'right' : 'left',
      ),
    )
    return padded.join(gap).trimEnd()
  }
  const rule = '─'.repeat(widths.reduce((sum, width) => sum + width, (widths.length - 1) * gap.length))
  return [
    `${pointer(-1)}${screen.paint('bold', line(headers))}`,
    `${pointer(-1)}${screen.paint('dim', rule)}`,
    ...cells.map((row, index) => {
      const text = `${pointer(index)}${line(row)}`
      return index === emphasised ? screen.paint('bold', text) : text
    }),
  ]
}

/** Widths of the columns, or nothing where they cannot stand side by side. */
function fittingWidths(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  room: number,
): number[] | undefined {
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => stringWidth(row[column]!))))
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
  [, ...names]: readonly string[],
  rows: readonly (readonly string[])[],
  emphasised: number | undefined,
  screen: Screen,
): string[] {
  const width = Math.max(0, ...names.map((name) => stringWidth(name)))
  return rows.flatMap(([title = '', ...cells], index) => {
    const heading = cutText(`${index === emphasised ? '▸ ' : ''}${title}`, screen.columns)
    const fields = cells.flatMap((cell, column) => {
      const line = `  ${padText(names[column]!, width)}  ${cell}`
      if (cell === '') return []
      if (stringWidth(line) <= screen.columns) return [line]
      const broken = wrapAnsi(cell, Math.max(2, screen.columns - 4), { hard: true }).split('\n')
      return [cutText(`  ${names[column]!}`, screen.columns), ...broken.map((part) => `    ${part}`)]
    })
    return [screen.paint('bold', heading), ...fields]
  })
}
