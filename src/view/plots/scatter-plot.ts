import { axes, linearScale, niceTicks } from './axis.ts'
import { labelAway, labelPlaces } from './label-places.ts'
import { frontierPositions } from './pareto.ts'
import { drawing, line, place, type SvgElement, svgElement, text, textWidth } from './svg.ts'

export interface ScatterPoint {
  readonly label: string
  readonly tokens: number
  readonly score: { readonly mean: number; readonly low: number; readonly high: number }
}

interface ScatterPlot {
  readonly points: readonly ScatterPoint[]
  readonly metric: string
  readonly formatTokens: (value: number) => string
  readonly width?: number
}

const height = 380

/** Score over tokens, with intervals. The line is the Pareto frontier. */
export function scatterPlot({ points, metric, formatTokens, width = 760 }: ScatterPlot): SvgElement {
  const frame = { left: 54, right: width - 16, top: 30, bottom: height - 50 }
  const most = tokensShown(points, frame.right - frame.left)
  const low = Math.max(0, Math.min(...points.map(({ score }) => score.low)) - 0.03)
  const high = Math.min(1, Math.max(...points.map(({ score }) => score.high)) + 0.03)
  const x = linearScale([0, most], [frame.left, frame.right])
  const y = linearScale([low, high], [frame.bottom, frame.top])
  const marks = points.map(({ label, tokens, score }) => ({
    label,
    x: x(tokens),
    y: y(score.mean),
    top: y(score.high),
    bottom: y(score.low),
  }))
  const frontier = frontierPositions(points.map(({ tokens, score }) => ({ x: tokens, y: score.mean })))
  const path = frontier.map(
    (position, index) =>
      `${index === 0 ? 'M' : 'L'}${place(marks[position]!.x)} ${place(marks[position]!.y)}`,
  )
  const labels = labelPlaces(marks, frame)
  return drawing(width, height, `${metric} against tokens per question, with 95 % intervals`, [
    ...axes(
      frame,
      {
        scale: x,
        ticks: niceTicks(0, most, Math.max(3, Math.floor(width / 110))),
        format: formatTokens,
        title: 'tokens per question',
      },
      {
        scale: y,
        ticks: niceTicks(low, high, 5),
        format: (tick) => `${Math.round(tick * 100)} %`,
        title: metric,
      },
    ),
    svgElement('path', { d: path.join(''), class: 'frontier' }),
    ...marks.map((mark) => line(mark.x, mark.bottom, mark.x, mark.top, 'whisker')),
    ...marks.map((mark, position) =>
      svgElement('circle', {
        cx: place(mark.x),
        cy: place(mark.y),
        r: 5,
        class: frontier.includes(position) ? 'point best' : 'point',
      }),
    ),
    ...labels.map((label, position) =>
      text(points[position]!.label, label.x, label.y, { class: 'label over', 'text-anchor': label.anchor }),
    ),
  ])
}

/** The end of the horizontal axis: behind the last point there is room for its label. */
function tokensShown(points: readonly ScatterPoint[], width: number): number {
  const ends = points.map(({ tokens, label }) => {
    const room = Math.min(labelAway + textWidth(label) + 2, width / 3)
    return (tokens * width) / (width - room)
  })
  return Math.max(1, ...ends)
}
