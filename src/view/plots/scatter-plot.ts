import { axes, linearScale, niceTicks } from './axis.ts'
import { frontierPositions } from './pareto.ts'
import { drawing, line, place, type SvgElement, svgElement, text } from './svg.ts'

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

const lineHeight = 15

/** Score against tokens, with intervals; a line joins the organisations that no other one beats in both. */
export function scatterPlot({ points, metric, formatTokens, width = 760 }: ScatterPlot): SvgElement {
  const height = 380
  const frame = { left: 60, right: width - 130, top: 30, bottom: height - 50 }
  const most = Math.max(1, ...points.map(({ tokens }) => tokens)) * 1.06
  const low = Math.max(0, Math.min(...points.map(({ score }) => score.low)) - 0.03)
  const high = Math.min(1, Math.max(...points.map(({ score }) => score.high)) + 0.03)
  const x = linearScale([0, most], [frame.left, frame.right])
  const y = linearScale([low, high], [frame.bottom, frame.top])
  const frontier = frontierPositions(points.map(({ tokens, score }) => ({ x: tokens, y: score.mean })))
  const path = frontier.map((position, index) => {
    const { tokens, score } = points[position]!
    return `${index === 0 ? 'M' : 'L'}${place(x(tokens))} ${place(y(score.mean))}`
  })
  const labels = spread(points.map(({ tokens, score }) => ({ x: x(tokens) + 11, y: y(score.mean) + 4 })))
  return drawing(width, height, `${metric} against tokens per question, with 95 % intervals`, [
    ...axes(
      frame,
      { scale: x, ticks: niceTicks(0, most, 6), format: formatTokens, title: 'tokens per question' },
      {
        scale: y,
        ticks: niceTicks(low, high, 5),
        format: (tick) => `${Math.round(tick * 100)} %`,
        title: metric,
      },
    ),
    svgElement('path', { d: path.join(''), class: 'frontier' }),
    ...points.map(({ tokens, score }) => line(x(tokens), y(score.low), x(tokens), y(score.high), 'whisker')),
    ...points.map(({ tokens, score }, position) =>
      svgElement('circle', {
        cx: place(x(tokens)),
        cy: place(y(score.mean)),
        r: 5,
        class: frontier.includes(position) ? 'point best' : 'point',
      }),
    ),
    ...points.map(({ label }, position) =>
      text(label, labels[position]!.x, labels[position]!.y, { class: 'label' }),
    ),
  ])
}

/** Moves labels down until none covers another one near it. */
function spread(places: readonly { readonly x: number; readonly y: number }[]) {
  const order = [...places.keys()].sort((a, b) => places[a]!.y - places[b]!.y)
  const moved = places.map((one) => ({ ...one }))
  for (const [index, position] of order.entries()) {
    const own = moved[position]!
    for (const above of order.slice(0, index)) {
      const other = moved[above]!
      if (Math.abs(other.x - own.x) < 110 && own.y - other.y < lineHeight) own.y = other.y + lineHeight
    }
  }
  return moved
}
