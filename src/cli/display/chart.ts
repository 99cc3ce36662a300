import { cutText, drawn, type Screen, shownText } from './screen.ts'
import { condensed } from './series.ts'

export interface Chart {
  readonly title: string
  readonly values: readonly number[]
  /** What is counted from left to right, and the number of the first value. */
  readonly x: { readonly label: string; readonly first: number }
  /** Values beyond these bounds are drawn at the edge. */
  readonly range: readonly [low: number, high: number]
  readonly format: (value: number) => string
}

const widestChart = 100
const narrowestPlot = 4
const height = 8
/** Dots of a Braille character. */
const cell = { columns: 2, rows: 4 }

/** A series as a curve of Braille dots over an axis. */
export function drawChart(chart: Chart, screen: Screen): string {
  const { format, range, x } = chart
  const values = chart.values.filter(Number.isFinite)
  const title = shownText(chart.title, screen)
  if (values.length === 0) return `${cutText(`${title}: no values yet`, screen.columns, screen)}\n`
  const labels = axisLabels(range, format)
  const labelWidth = Math.max(...[...labels.values()].map((label) => label.length))
  const width = Math.max(narrowestPlot, Math.min(screen.columns, widestChart) - labelWidth - 2)
  const margin = ' '.repeat(labelWidth + 1)
  const lines = [
    screen.paint('bold', cutText(title, screen.columns, screen)),
    drawn(cutText(story(values, format), screen.columns, screen), screen),
    ...plotted(values, range, width).map((line, row) => {
      const label = (labels.get(row) ?? '').padStart(labelWidth)
      return `${drawn(`${label} ${labels.has(row) ? '┤' : '│'}`, screen)}${screen.paint('cyan', line)}`
    }),
    drawn(`${margin}└${'─'.repeat(width)}`, screen),
    `${margin} ${axisText(x, values.length, width)}`.trimEnd(),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

/** Where it began and where it is now, and what lay between. */
function story(values: readonly number[], format: Chart['format']): string {
  const course = `${format(values[0]!)} → ${format(values.at(-1)!)}`
  return `${course}  min ${format(Math.min(...values))}  max ${format(Math.max(...values))}`
}

/** Top, middle and bottom. The dots of a row have several values: the label tells the one in the middle of it. */
function axisLabels([low, high]: Chart['range'], format: Chart['format']): Map<number, string> {
  const middle = height / 2
  const share = (middle * cell.rows + (cell.rows - 1) / 2) / (height * cell.rows - 1)
  return new Map([
    [0, format(high)],
    [middle, format(high * (1 - share) + low * share)],
    [height - 1, format(low)],
  ])
}

function axisText({ label, first }: Chart['x'], count: number, width: number): string {
  const from = String(first)
  const to = count > 1 ? String(first + count - 1) : ''
  const space = width - from.length - to.length
  if (space < 1) return from.length <= width ? from : ''
  const before = Math.floor((width - label.length) / 2) - from.length
  const after = space - before - label.length
  if (before < 1 || after < 1) return `${from}${' '.repeat(space)}${to}`
  return `${from}${' '.repeat(before)}${label}${' '.repeat(after)}${to}`
}

/** The plot's lines. Neighbours are joined by a line; a value alone is a dot. */
function plotted(all: readonly number[], [low, high]: Chart['range'], width: number): string[] {
  const [dotsAcross, dotsDown] = [width * cell.columns, height * cell.rows]
  const values = condensed(all, dotsAcross)
  const dots = values.map((value, index) => {
    const share = Math.min(1, Math.max(0, (value - low) / (high - low)))
    const x = Math.round((index * (dotsAcross - 1)) / Math.max(1, values.length - 1))
    return { x, y: Math.round((1 - share) * (dotsDown - 1)) }
  })
  const cells = Array.from({ length: height }, () => new Array<number>(width).fill(0))
  for (const [index, from] of dots.entries()) {
    const to = dots[index + 1] ?? from
    const steps = Math.max(1, Math.abs(to.x - from.x), Math.abs(to.y - from.y))
    for (let step = 0; step <= steps; step += 1) {
      const x = Math.round(from.x + ((to.x - from.x) * step) / steps)
      const y = Math.round(from.y + ((to.y - from.y) * step) / steps)
      cells[Math.floor(y / cell.rows)]![Math.floor(x / cell.columns)]! |= brailleBit(x, y)
    }
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
