import { linearScale, niceTicks } from './axis.ts'
import { drawing, line, place, type SvgElement, shortenedText, svgElement, text, textWidth } from './svg.ts'

export interface ShownDifference {
  readonly label: string
  readonly difference: number
  readonly low: number
  readonly high: number
}

const rowHeight = 30

/** Paired differences with their intervals. One whose interval excludes zero is drawn in full colour. */
export function differencePlot(rows: readonly ShownDifference[], base: string, width = 760): SvgElement {
  const height = rows.length * rowHeight + 64
  const widest = Math.max(60, ...rows.map(({ label }) => textWidth(label)))
  const left = Math.min(widest + 20, Math.max(120, width * 0.3))
  const [right, top] = [width - 24, 22]
  const bottom = height - 44
  const reach = Math.max(0.02, ...rows.flatMap(({ low, high }) => [Math.abs(low), Math.abs(high)])) * 1.1
  const x = linearScale([-reach, reach], [left, right])
  const signed = (share: number) => `${share > 0 ? '+' : ''}${Math.round(share * 1000) / 10}`
  return drawing(width, height, `Differences to ${base} in percentage points, with 95 % intervals`, [
    ...niceTicks(-reach, reach, Math.max(3, Math.floor(width / 110))).flatMap((tick) => [
      line(x(tick), top - 6, x(tick), bottom, Math.abs(tick) < 1e-9 ? 'zero' : 'rule'),
      text(signed(tick), x(tick), bottom + 18, { class: 'tick', 'text-anchor': 'middle' }),
    ]),
    text(`percentage points against ${base}`, (left + right) / 2, bottom + 38, {
      class: 'axis-title',
      'text-anchor': 'middle',
    }),
    ...rows.flatMap(({ label, difference, low, high }, index) => {
      const y = top + index * rowHeight + rowHeight / 2
      const isClear = low > 0 || high < 0
      return [
        shortenedText(label, left - 12, left - 12, y + 4, { class: 'label', 'text-anchor': 'end' }),
        line(x(low), y, x(high), y, isClear ? 'whisker clear' : 'whisker'),
        svgElement('circle', {
          cx: place(x(difference)),
          cy: place(y),
          r: 5,
          class: isClear ? 'point best' : 'point',
        }),
      ]
    }),
  ])
}
