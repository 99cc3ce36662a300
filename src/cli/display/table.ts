import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import { cutText, padText, type Screen, shownText } from './screen.ts'

export interface ShownTable {
  readonly columns: readonly string[]
  /** One text per column. */
  readonly rows: readonly (readonly string[])[]
  /** Columns of text, by default the first. All others are numbers: aligned right and never cut. */
  readonly texts?: readonly number[]
  /** Index of the row to highlight. */
  readonly emphasised?: number
}

const gap = '  '
const narrowestText = 8

/**
 * Aligned columns for a terminal. If they do not fit, the widest text column shrinks first; if that is not enough, every row
 * becomes a small list, because a cut number is a wrong number.
 */
export function tableLines({ columns, rows, texts = [0], emphasised }: ShownTable, screen: Screen): string[] {
  const headers = columns.map(shownText)
  const cells = rows.map((row) => headers.map((_, column) => shownText(row[column] ?? '')))
  // Visible without colour, too.
  const pointer = (index: number) => (emphasised === undefined ? '' : index === emphasised ? '▸ ' : '  ')
  const widths = fittingWidths(texts, [headers, ...cells], screen.columns - pointer(0).length)
  if (widths === undefined) return stacked(headers, cells, emphasised, screen)
  const line = (row: readonly string[]) => {
    const padded = row.map((cell, column) => {
      const width = widths[column]!
      return padText(cutText(cell, width), width, texts.includes(column) ? 'left' : 'right')
    })
    return padded.join(gap).trimEnd()
  }
  return [
    `${pointer(-1)}${screen.paint('bold', line(headers))}`,
    `${pointer(-1)}${screen.paint('dim', '─'.repeat(lineWidth(widths)))}`,
    ...cells.map((row, index) => {
      const text = `${pointer(index)}${line(row)}`
      return index === emphasised ? screen.paint('bold', text) : text
    }),
  ]
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, (widths.length - 1) * gap.length)
}

/** Column widths, or undefined if the columns cannot fit side by side. */
function fittingWidths(
  texts: readonly number[],
  rows: readonly (readonly string[])[],
  room: number,
): number[] | undefined {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => stringWidth(row[column]!))))
  while (lineWidth(widths) > room) {
    const widest = texts.reduce((a, b) => (widths[b]! > widths[a]! ? b : a), texts[0] ?? -1)
    if (widest < 0 || widths[widest]! <= narrowestText) return undefined
    widths[widest]! -= 1
  }
  return widths
}

/** Each row as a list. A cell that does not fit beside its name goes below it, uncut. */
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
