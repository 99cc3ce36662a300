import type { Anchor, Drawing, DrawnShape, Place } from './drawing.ts'
import { placeLabels } from './labels.ts'
import type { Figure } from './tables.ts'

const size = { width: 640, height: 400 }
const frame = { left: 70, right: 470, top: 40, bottom: 340 }
const ink = '#222222'
const pale = '#dddddd'
const colours = [
  '#0b62a4',
  '#d1495b',
  '#2e8b57',
  '#b8860b',
  '#6a4c93',
  '#555555',
  '#00858c',
  '#a0522d',
  '#e07a1f',
]

/** Draws a figure: points and lines over two axes, or groups of bars. */
export function plot(figure: Figure): Drawing {
  const shapes = figure.bars === undefined ? plotSeries(figure) : plotBars(figure)
  return {
    ...size,
    title: figure.title,
    shapes: [label([size.width / 2, 18], figure.title, 'middle'), ...shapes],
  }
}

function plotSeries({ x, y, series }: Figure): DrawnShape[] {
  const points = series.flatMap((one) => one.points)
  const across = scale(
    points.map((point) => point.x),
    frame.left,
    frame.right,
  )
  const up = scale(
    points.map((point) => point.y),
    frame.bottom,
    frame.top,
  )
  const place = (point: { x: number; y: number }): Place => [across.at(point.x), up.at(point.y)]
  return [
    ...axes(across, up, x, y),
    ...series.flatMap(({ name, points, line }, index) => {
      const colour = colours[index % colours.length]!
      const joined = line
        ? points.slice(1).map((point, before): DrawnShape => {
            return { kind: 'line', from: place(points[before]!), to: place(point), colour }
          })
        : []
      const marks = points.map((point): DrawnShape => {
        return { kind: 'disc', at: place(point), radius: 4, colour }
      })
      return [...joined, ...marks, ...legend(name, index, colour)]
    }),
    ...labels(
      points.map((point) => ({ at: place(point), text: point.label })),
      series.length,
    ),
  ]
}

/** Labels avoid the legend, which has `lines` lines. */
function labels(
  points: readonly { readonly at: Place; readonly text?: string }[],
  lines: number,
): DrawnShape[] {
  const named = points.flatMap(({ at, text }) => (text === undefined ? [] : [{ at, text }]))
  const legend = { left: frame.right + 8, right: size.width, top: frame.top, bottom: frame.top + lines * 18 }
  return placeLabels(named, [legend]).map((at, index) => label(at, named[index]!.text, 'start'))
}

function plotBars({ bars = [], x, y }: Figure): DrawnShape[] {
  const up = scale([0, 100], frame.bottom, frame.top)
  const names = [...new Set(bars.flatMap((group) => group.bars.map(({ name }) => name)))]
  const room = (frame.right - frame.left) / Math.max(1, bars.length)
  const width = room / (names.length + 1)
  return [
    ...axes(undefined, up, x, y),
    ...bars.flatMap((group, index) => {
      const left = frame.left + index * room + width / 2
      const drawn = group.bars.flatMap(({ name, value }): DrawnShape[] => {
        const which = names.indexOf(name)
        const from = left + which * width
        if (value === null) return [label([from + width * 0.45, frame.bottom - 8], 'N/A', 'middle')]
        const top = up.at(value)
        return [
          {
            kind: 'box',
            at: [from, top],
            width: width * 0.9,
            height: frame.bottom - top,
            colour: colours[which]!,
          },
          label([from + width * 0.45, top - 8], value.toFixed(1), 'middle'),
        ]
      })
      return [...drawn, label([left + (names.length * width) / 2, frame.bottom + 14], group.group, 'middle')]
    }),
    ...names.flatMap((name, index) => legend(name, index, colours[index]!)),
  ]
}

function axes(across: Scale | undefined, up: Scale, x: string, y: string): DrawnShape[] {
  const corner: Place = [frame.left, frame.bottom]
  return [
    ...up.ticks.flatMap((tick): DrawnShape[] => [
      { kind: 'line', from: [frame.left, up.at(tick)], to: [frame.right, up.at(tick)], colour: pale },
      label([frame.left - 6, up.at(tick)], shortNumber(tick), 'end'),
    ]),
    ...(across?.ticks ?? []).flatMap((tick): DrawnShape[] => [
      {
        kind: 'line',
        from: [across!.at(tick), frame.bottom],
        to: [across!.at(tick), frame.bottom + 4],
        colour: ink,
      },
      label([across!.at(tick), frame.bottom + 14], shortNumber(tick), 'middle'),
    ]),
    { kind: 'line', from: corner, to: [frame.right, frame.bottom], colour: ink },
    { kind: 'line', from: corner, to: [frame.left, frame.top], colour: ink },
    label([(frame.left + frame.right) / 2, frame.bottom + 36], x, 'middle'),
    label([8, frame.top - 12], y, 'start'),
  ]
}

function legend(name: string, index: number, colour: string): DrawnShape[] {
  const y = frame.top + 8 + index * 18
  return [
    { kind: 'disc', at: [frame.right + 16, y], radius: 4, colour },
    label([frame.right + 26, y], name, 'start'),
  ]
}

interface Scale {
  readonly at: (value: number) => number
  readonly ticks: readonly number[]
}

/** From the smallest to the largest value, with some margin and round ticks. */
function scale(values: readonly number[], from: number, to: number): Scale {
  const known = values.length === 0 ? [0, 1] : values
  let [low, high] = [Math.min(...known), Math.max(...known)]
  const room = (high - low || Math.abs(high) || 1) * 0.06
  low = low >= 0 ? Math.max(0, low - room) : low - room
  high += room
  const step = roundStep((high - low) / 5)
  const first = Math.ceil(low / step)
  const ticks = Array.from(
    { length: Math.floor(high / step) - first + 1 },
    (_, index) => (first + index) * step,
  )
  return { at: (value) => from + ((value - low) / (high - low)) * (to - from), ticks }
}

/** 1, 2 or 5 times a power of ten. */
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  return [1, 2, 5, 10].find((factor) => factor * power >= rough)! * power
}

function shortNumber(value: number): string {
  if (Math.abs(value) >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`
  if (Math.abs(value) >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`
  return String(Number(value.toPrecision(3)))
}

function label(at: Place, text: string, anchor: Anchor): DrawnShape {
  return { kind: 'text', at, text, anchor, colour: ink }
}
