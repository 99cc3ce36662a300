import { braille, brailleCell, type CellShape, DotCanvas, singleCell } from './dot-canvas.ts'
import { cutText, type Screen, type Style, shownText } from './screen.ts'
import { condensed, extent, present, type Series, smoothed } from './series.ts'
import { padToWidth, textWidth } from './text-width.ts'

export interface Chart {
  readonly title?: string
  /** One or two; the second is drawn dashed, so that they can be told apart without colour. */
  readonly curves: readonly Curve[]
  /** What is counted from left to right, and the number of the first value (1). */
  readonly x?: { readonly label?: string; readonly first?: number }
  /** Bounds that hold whatever the values are; what lies beyond them is drawn at the edge. */
  readonly range?: readonly [number, number]
  /** Values whose mean is drawn at each place (1: as they are). */
  readonly smoothing?: number
  /** Lines of the plot (8). */
  readonly height?: number
  readonly format?: (value: number) => string
}

export interface Curve {
  readonly name: string
  readonly values: Series
}

const widestChart = 100
const narrowestPlot = 4
const styles: readonly Style[] = ['cyan', 'yellow']

/** One or two series as curves over a common axis, for a terminal. */
export function drawChart(chart: Chart, screen: Screen): string {
  const curves = chart.curves.slice(0, styles.length).map(({ name, values }) => ({
    name: shownText(name, screen),
    values: smoothed(values, chart.smoothing ?? 1),
  }))
  const all = extent(curves.flatMap(({ values }) => values))
  const title = shownText(chart.title ?? '', screen)
  if (all === undefined)
    return `${cutText(`${title === '' ? '' : `${title}: `}no values yet`, screen.columns, screen)}\n`
  const format = chart.format ?? plainNumber(all)
  const text = (value: number) => shownText(format(value), screen)
  const bounds = chart.range ?? widened(all)
  const height = Math.max(2, chart.height ?? 8)
  const cell = screen.ascii ? singleCell : brailleCell
  const labels = axisLabels(bounds, height, cell, text)
  const labelWidth = Math.max(...[...labels.values()].map(textWidth))
  const columns = Math.min(screen.columns, widestChart)
  const plotWidth = Math.max(narrowestPlot, columns - labelWidth - 2)
  const plot = plotted(curves, bounds, new DotCanvas(plotWidth, height, cell), screen)
  const [upright, corner, across] = screen.ascii ? ['|', '+', '-'] : ['┤', '└', '─']
  const longest = Math.max(...curves.map(({ values }) => values.length))
  return [
    ...(title === ''
      ? []
      : [screen.paint('bold', cutText(headline(title, chart.smoothing), screen.columns, screen))]),
    ...legends(curves, text, screen),
    ...plot.map((line, row) => {
      const label = padToWidth(labels.get(row) ?? '', labelWidth, 'right')
      return `${label} ${labels.has(row) || screen.ascii ? upright : '│'}${line}`.trimEnd()
    }),
    `${' '.repeat(labelWidth + 1)}${corner}${across.repeat(plotWidth)}`,
    `${' '.repeat(labelWidth + 2)}${axisText(chart.x ?? {}, longest, plotWidth, screen)}`.trimEnd(),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

function headline(title: string, smoothing = 1): string {
  return smoothing > 1 ? `${title} (mean of ${smoothing})` : title
}

/** How each is drawn, where it began and where it is now, and what lay between. */
function legends(curves: readonly Curve[], text: (value: number) => string, screen: Screen): string[] {
  const width = Math.max(...curves.map(({ name }) => textWidth(name)))
  return curves.map(({ name, values }, pen) => {
    const sample = screen.ascii ? asciiPens[pen]!.repeat(3) : pen === 0 ? '⠤⠤⠤' : '⠤ ⠤'
    const parts = [
      ...(width === 0 ? [] : [padToWidth(name, width)]),
      story(values.filter(present), text, screen),
    ]
    const line = cutText(parts.join('  '), screen.columns - sample.length - 2, screen)
    return `${screen.paint(styles[pen]!, sample)}  ${line}`
  })
}

function story(known: readonly number[], text: (value: number) => string, { ascii }: Screen): string {
  const range = extent(known)
  if (range === undefined) return 'no values yet'
  if (known.length === 1) return text(known[0]!)
  const course = `${text(known[0]!)} ${ascii ? '->' : '→'} ${text(known.at(-1)!)}`
  return `${course}  min ${text(range[0])}  max ${text(range[1])}`
}

/** A series without any change runs along the middle. */
function widened([low, high]: readonly [number, number]): readonly [number, number] {
  if (high > low) return [low, high]
  const margin = Math.abs(low) * 0.1 || 1
  return [Math.max(low - margin, -Number.MAX_VALUE), Math.min(high + margin, Number.MAX_VALUE)]
}

/** Top, bottom and, where there is room, the middle. */
function axisLabels(
  [low, high]: readonly [number, number],
  height: number,
  cell: CellShape,
  text: (value: number) => string,
): Map<number, string> {
  const labels = new Map([
    [0, text(high)],
    [height - 1, text(low)],
  ])
  const middle = Math.floor(height / 2)
  // The dots of a row have several values: the label tells the one in the middle of it.
  const share = (middle * cell.rows + (cell.rows - 1) / 2) / (height * cell.rows - 1)
  if (height >= 5) labels.set(middle, text(high * (1 - share) + low * share))
  return labels
}

function axisText(
  { label = '', first = 1 }: NonNullable<Chart['x']>,
  count: number,
  width: number,
  screen: Screen,
): string {
  const from = String(first)
  const to = count > 1 ? String(first + count - 1) : ''
  const name = shownText(label, screen)
  const ends = `${from}${' '.repeat(Math.max(1, width - from.length - to.length))}${to}`
  if (ends.length > width) return cutText(from, width, screen)
  const before = Math.floor((width - textWidth(name)) / 2)
  const fits = before > from.length && width - before - textWidth(name) > to.length
  return fits ? `${ends.slice(0, before)}${name}${ends.slice(before + textWidth(name))}` : ends
}

const asciiPens = ['*', 'o']
const asciiBoth = '#'

function plotted(
  curves: readonly Curve[],
  bounds: readonly [number, number],
  canvas: DotCanvas,
  screen: Screen,
): string[] {
  const longest = Math.max(...curves.map(({ values }) => values.length))
  for (const [pen, { values }] of curves.entries()) trace(canvas, pen, values, longest, bounds)
  return canvas.rows(curves.length).map((row) =>
    coloured(
      row.map((dots) => signOf(dots, screen)),
      screen,
    ),
  )
}

interface Sign {
  readonly text: string
  /** The first that drew here; none in an empty place. */
  readonly pen: number | undefined
}

function signOf(dots: readonly number[], { ascii }: Screen): Sign {
  const pens = [...dots.keys()].filter((pen) => dots[pen]! > 0)
  const [pen] = pens
  if (pen === undefined) return { text: ' ', pen }
  if (ascii) return { text: pens.length > 1 ? asciiBoth : asciiPens[pen]!, pen }
  return { text: braille(dots.reduce((sum, value) => sum | value, 0)), pen }
}

/** Stretches of one colour are painted at once. */
function coloured(signs: readonly Sign[], screen: Screen): string {
  let line = ''
  for (let from = 0; from < signs.length; ) {
    const { pen } = signs[from]!
    let to = from + 1
    while (to < signs.length && signs[to]!.pen === pen) to += 1
    const stretch = signs
      .slice(from, to)
      .map(({ text }) => text)
      .join('')
    line += pen === undefined ? stretch : screen.paint(styles[pen]!, stretch)
    from = to
  }
  return line.trimEnd()
}

/** Neighbours are joined by a line; a value between two gaps is a blot. */
function trace(
  canvas: DotCanvas,
  pen: number,
  series: Series,
  longest: number,
  [low, high]: readonly [number, number],
): void {
  const places = Math.min(longest, canvas.width)
  const values = condensed(series, Math.max(1, Math.round((series.length / longest) * places)))
  const spread = places > 1 ? (canvas.width - 1) / (places - 1) : 0
  const xOf = (index: number) => Math.round(index * spread)
  const yOf = (value: number) => {
    const share = (value / 2 - low / 2) / (high / 2 - low / 2)
    return Math.round((1 - Math.min(1, Math.max(0, share))) * (canvas.height - 1))
  }
  for (const [index, value] of values.entries()) {
    if (!present(value)) continue
    const next = values[index + 1]
    if (present(next)) joinDots(canvas, pen, [xOf(index), yOf(value)], [xOf(index + 1), yOf(next)])
    else if (!present(values[index - 1])) canvas.blot(pen, xOf(index), yOf(value))
  }
}

type Dot = readonly [x: number, y: number]

function joinDots(canvas: DotCanvas, pen: number, [x0, y0]: Dot, [x1, y1]: Dot): void {
  const steps = Math.max(1, Math.abs(x1 - x0), Math.abs(y1 - y0))
  for (let step = 0; step <= steps; step += 1) {
    const x = Math.round(x0 + ((x1 - x0) * step) / steps)
    const y = Math.round(y0 + ((y1 - y0) * step) / steps)
    if (pen === 0 || isDash(x, canvas)) canvas.set(pen, x, y)
  }
}

/** Two characters drawn, one left out. Where a character has a single dot, the pens differ by their sign instead. */
function isDash(x: number, canvas: DotCanvas): boolean {
  return canvas.isCoarse || x % 6 < 4
}

/** As many digits as tell the values apart. */
function plainNumber([low, high]: readonly [number, number]): (value: number) => string {
  const span = high - low || Math.abs(high) || 1
  const digits = Math.min(8, Math.max(0, 2 - Math.floor(Math.log10(span))))
  const large = Math.max(Math.abs(low), Math.abs(high))
  const exponential = large >= 1e7 || (large > 0 && large < 1e-6)
  return (value) => (exponential && value !== 0 ? value.toExponential(2) : value.toFixed(digits))
}
