import { line, type SvgElement, text } from './svg.ts'

/** Round numbers that cover a range: steps of 1, 2 or 5 times a power of ten. */
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

/** A range with some room around its values. */
export function padded(values: readonly number[], share = 0.06): [number, number] {
  const known = values.filter(Number.isFinite)
  if (known.length === 0) return [0, 1]
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const room = (high - low || Math.abs(high) || 1) * share
  return [low - room, high + room]
}

/** The room inside of a plot. */
export interface PlotFrame {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Rules and labels of both axes, behind what is drawn. */
export function axes(
  frame: PlotFrame,
  x: {
    readonly scale: Scale
    readonly ticks: readonly number[]
    readonly format: (value: number) => string
    readonly title: string
  },
  y: {
    readonly scale: Scale
    readonly ticks: readonly number[]
    readonly format: (value: number) => string
    readonly title: string
  },
): SvgElement[] {
  const { left, right, top, bottom } = frame
  return [
    ...y.ticks.flatMap((tick) => [
      line(left, y.scale(tick), right, y.scale(tick), 'rule'),
      text(y.format(tick), left - 8, y.scale(tick) + 4, { class: 'tick', 'text-anchor': 'end' }),
    ]),
    ...x.ticks.map((tick) =>
      text(x.format(tick), x.scale(tick), bottom + 18, { class: 'tick', 'text-anchor': 'middle' }),
    ),
    line(left, bottom, right, bottom, 'axis'),
    text(x.title, (left + right) / 2, bottom + 38, { class: 'axis-title', 'text-anchor': 'middle' }),
    text(y.title, left - 44, top - 12, { class: 'axis-title' }),
  ]
}
