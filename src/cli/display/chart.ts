import { cutText, type Screen } from './screen.ts'
import { condensed } from './series.ts'

const widestChart = 100
const narrowestPlot = 4
const height = 8
const labelWidth = '1.00'.length
/** Dots of a Braille character. */
const cell = { columns: 2, rows: 4 }

/** Scores from 0 to 1, one per update, as a curve of Braille dots over an axis. */
export function chartLines(
  { title, values, first }: { title: string; values: readonly number[]; first: number },
  screen: Screen,
): string[] {
  const width = Math.max(narrowestPlot, Math.min(screen.columns, widestChart) - labelWidth - 2)
  const margin = ' '.repeat(labelWidth + 1)
  const [begin, end, least, most] = [
    values[0]!,
    values.at(-1)!,
    Math.min(...values),
    Math.max(...values),
  ].map((value) => value.toFixed(2))
  const labels: Readonly<Record<number, string>> = { 0: '1.00', [height - 1]: '0.00' }
  const last = String(first + values.length - 1)
  return [
    screen.paint('bold', cutText(title, screen.columns)),
    cutText(`${begin} → ${end}  min ${least}  max ${most}`, screen.columns),
    ...plotted(values, width).map((line, row) => {
      const axis = labels[row] === undefined ? `${margin}│` : `${labels[row]} ┤`
      return `${axis}${screen.paint('cyan', line)}`
    }),
    `${margin}└${'─'.repeat(width)}`,
    cutText(`${margin} update ${first}${last.padStart(width - `update ${first}`.length)}`, screen.columns),
  ]
}

/** Every column of dots reaches from its value to that of the column before, so that the curve has no gaps. */
function plotted(all: readonly number[], width: number): string[] {
  const [dotsAcross, dotsDown] = [width * cell.columns, height * cell.rows]
  const values = condensed(all, dotsAcross)
  const rowAt = (x: number) => {
    const place = (x * (values.length - 1)) / (dotsAcross - 1)
    const [before, after] = [values[Math.floor(place)]!, values[Math.ceil(place)]!]
    const value = before + (after - before) * (place % 1)
    return Math.round((1 - Math.min(1, Math.max(0, value))) * (dotsDown - 1))
  }
  const cells = Array.from({ length: height }, () => new Array<number>(width).fill(0))
  for (let x = 0; x < dotsAcross; x += 1) {
    const [here, before] = [rowAt(x), rowAt(Math.max(0, x - 1))]
    for (let y = Math.min(here, before); y <= Math.max(here, before); y += 1)
      cells[Math.floor(y / cell.rows)]![Math.floor(x / cell.columns)]! |= brailleBit(x, y)
  }
  return cells.map((row) => row.map(braille).join('').trimEnd())
}

/** Braille numbers its dots down the columns; the lowest row was added later. */
function brailleBit(x: number, y: number): number {
  const right = x % cell.columns
  const row = y % cell.rows
  return row === cell.rows - 1 ? 0x40 << right : 1 << (row + 3 * right)
}

function braille(dots: number): string {
  return dots === 0 ? ' ' : String.fromCharCode(0x2800 + dots)
}
