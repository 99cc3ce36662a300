import { cutText, type Screen, shownText } from './screen.ts'
import { padToWidth, textWidth } from './text-width.ts'

export interface Table {
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
export function terminalTable(table: Table, screen: Screen): string {
  const headers = table.columns.map(({ header }) => shownText(header, screen))
  const rows = table.rows.map((row) => headers.map((_, column) => shownText(row[column] ?? '', screen)))
  const important = new Set(table.emphasised)
  // Seen without colour too.
  const pointer = important.size === 0 ? '' : screen.ascii ? '> ' : '▸ '
  const widths = fittingWidths(table, headers, rows, screen.columns - pointer.length)
  if (widths === undefined) return stacked(headers, rows, important, pointer, screen)
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        const side = table.columns[column]!.kind === 'number' ? 'right' : 'left'
        return padToWidth(cutText(cell, widths[column]!, screen), widths[column]!, side)
      })
      .join(gap)
      .trimEnd()
  const margin = ' '.repeat(pointer.length)
  const rule = (screen.ascii ? '-' : '─').repeat(
    widths.reduce((sum, width) => sum + width, (widths.length - 1) * gap.length),
  )
  return [
    `${margin}${screen.paint('bold', line(headers))}`,
    `${margin}${screen.paint('dim', rule)}`,
    ...rows.map((row, index) =>
      important.has(index) ? screen.paint('bold', `${pointer}${line(row)}`) : `${margin}${line(row)}`,
    ),
  ]
    .map((text) => `${text}\n`)
    .join('')
}

/** Widths of the columns, or nothing where they cannot stand side by side. */
function fittingWidths(
  { columns }: Table,
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  room: number,
): number[] | undefined {
  const widths = headers.map((header, column) =>
    Math.max(textWidth(header), ...rows.map((row) => textWidth(row[column]!))),
  )
  const texts = [...columns.keys()].filter((column) => columns[column]!.kind !== 'number')
  let excess = widths.reduce((sum, width) => sum + width, (widths.length - 1) * gap.length) - room
  while (excess > 0) {
    const ordered = texts.toSorted((a, b) => widths[b]! - widths[a]!)
    const [widest, second] = ordered
    if (widest === undefined || widths[widest]! <= narrowestText) return undefined
    const floor = Math.max(narrowestText, second === undefined ? 0 : widths[second]! - 1)
    const less = Math.min(excess, Math.max(1, widths[widest]! - floor))
    widths[widest]! -= less
    excess -= less
  }
  return widths
}

function stacked(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  important: ReadonlySet<number>,
  pointer: string,
  screen: Screen,
): string {
  const [, ...names] = headers
  const width = Math.max(0, ...names.map(textWidth))
  const lines = rows.flatMap(([title = '', ...cells], index) => [
    screen.paint('bold', cutText(`${important.has(index) ? pointer : ''}${title}`, screen.columns, screen)),
    ...cells.flatMap((cell, column) =>
      cell === '' ? [] : [cutText(`  ${padToWidth(names[column]!, width)}  ${cell}`, screen.columns, screen)],
    ),
  ])
  return lines.map((text) => `${text}\n`).join('')
}
