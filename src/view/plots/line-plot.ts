import { axes, linearScale, niceTicks, padded } from './axis.ts'
import { drawing, place, type SvgElement, svgElement } from './svg.ts'

interface LinePlot {
  readonly title: string
  readonly x: readonly number[]
  /** Null where there is no value. The first line is the main one; the others are drawn faintly behind it. */
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]
  readonly format: (value: number) => string
}

const [width, height] = [360, 200]
const frame = { left: 52, right: width - 12, top: 26, bottom: height - 44 }
/** More points than pixels would only make the file larger. */
const mostPoints = 400

export function linePlot({ title, x, lines, format }: LinePlot): SvgElement {
  const values = lines.flatMap((one) => one.values.filter((value) => value !== null))
  const range = padded(values)
  const domain = [x[0] ?? 0, x.at(-1) ?? 1] as const
  const xScale = linearScale(domain, [frame.left, frame.right])
  const yScale = linearScale(range, [frame.bottom, frame.top])
  const paths = lines.toReversed().map(({ values: own }, index) => {
    const step = Math.max(1, Math.ceil(own.length / mostPoints))
    const points = own
      .map((value, position) => [xScale(x[position]!), yScale(value ?? Number.NaN)] as const)
      .filter(([, y], position) => position % step === 0 && Number.isFinite(y))
    const d = points
      .map(([px, py], position) => `${position === 0 ? 'M' : 'L'}${place(px)} ${place(py)}`)
      .join('')
    return svgElement('path', { d, class: index === lines.length - 1 ? 'line' : 'line faint' })
  })
  return drawing(width, height, `${title}: ${lines.map(({ name }) => name).join(', ')}`, [
    ...axes(
      frame,
      { scale: xScale, ticks: niceTicks(...domain, 4), format: String, title: 'update' },
      { scale: yScale, ticks: niceTicks(...range, 4), format, title },
    ),
    ...paths,
  ])
}
