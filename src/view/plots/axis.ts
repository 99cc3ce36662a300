import { line, type SvgElement, text } from './svg.ts'

/** Round numbers within a range, in steps of 1, 2 or 5 times a power of ten. */
export function niceTicks(low: number, high: number, wanted = 5): number[] {
  const range = high - low
  if (!(range > 0)) return [low]
  const rough = range / wanted
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough * 0.99)!
  const first = Math.ceil(low / step - 1e-9)
  const last = Math.floor(high / step + 1e-9)
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

export type Scale = (value: number) => number

export function linearScale(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
): Scale {
  const span = to - from || 1
  return (value) => start + ((value - from) / span) * (end - start)
}

/** The range of some values, with a margin. */
export function padded(values: readonly number[], share = 0.06): [number, number] {
  const known = values.filter(Number.isFinite)
  if (known.length === 0) return [0, 1]
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const room = (high - low || Math.abs(high) || 1) * share
  return [low - room, high + room]
}

/** A formatted tick without trailing zeros: `2.00 k` becomes `2 k`. */
export function shortTick(label: string): string {
  return label.replace(/\.(\d*?)0+(?!\d)/, (_, digits: string) => (digits === '' ? '' : `.${digits}`))
}

/** The area of a plot in which data are drawn. */
export interface PlotFrame {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

interface Axis {
  readonly scale: Scale
  readonly ticks: readonly number[]
  readonly format: (value: number) => string
  readonly title: string
}

/** The rules and labels of both axes, to be drawn behind the data. */
export function axes({ left, right, top, bottom }: PlotFrame, x: Axis, y: Axis): SvgElement[] {
  return [
    ...y.ticks.flatMap((tick) => [
      line(left, y.scale(tick), right, y.scale(tick), 'rule'),
      text(shortTick(y.format(tick)), left - 8, y.scale(tick) + 4, { class: 'tick', 'text-anchor': 'end' }),
    ]),
    ...x.ticks.map((tick) =>
      text(shortTick(x.format(tick)), x.scale(tick), bottom + 18, { class: 'tick', 'text-anchor': 'middle' }),
    ),
    line(left, bottom, right, bottom, 'axis'),
    text(x.title, (left + right) / 2, bottom + 38, { class: 'axis-title', 'text-anchor': 'middle' }),
    text(y.title, left - 44, top - 12, { class: 'axis-title' }),
  ]
}
