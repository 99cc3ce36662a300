import type { Screen } from './screen.ts'
import { condensed, extent, present, type Series, smoothed } from './series.ts'

export interface SparklineStyle {
  /** Characters at most. */
  readonly width?: number
  readonly smoothing?: number
  /** Fixed bounds, so that several can be compared. */
  readonly range?: readonly [number, number]
}

const blocks = '▁▂▃▄▅▆▇█'
const asciiBlocks = '_.:-=+*#'

/** A series in one line: `▁▂▃▅▆▇█`. A gap is a space; a series that never changes runs along the middle. */
export function sparkline(series: Series, screen: Screen, style: SparklineStyle = {}): string {
  const width = Math.max(0, Math.min(style.width ?? 60, screen.columns))
  const values = condensed(smoothed(series, style.smoothing ?? 1), width)
  const range = style.range ?? extent(values)
  if (range === undefined) return ''
  const [low, high] = range
  const signs = screen.ascii ? asciiBlocks : blocks
  return values
    .map((value) => {
      if (!present(value)) return ' '
      // Halved, so that the distance of the largest numbers is still a number.
      const share = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.45
      return signs[Math.min(signs.length - 1, Math.max(0, Math.floor(share * signs.length)))]
    })
    .join('')
}
