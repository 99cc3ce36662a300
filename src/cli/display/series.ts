/** Means over `window` consecutive values; shorter than the input by `window - 1`. */
export function movingMean(values: readonly number[], window: number): number[] {
  return values.slice(window - 1).map((_, index) => mean(values.slice(index, index + window)))
}

/** At most `count` values, each the mean of about equally many neighbours. */
export function condensed(values: readonly number[], count: number): readonly number[] {
  if (values.length <= count) return values
  const place = (index: number) => Math.floor((index * values.length) / count)
  return Array.from({ length: count }, (_, index) => mean(values.slice(place(index), place(index + 1))))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value / values.length, 0)
}

const blocks = '▁▂▃▄▅▆▇█'

/** A series as one line, `▁▂▃▅▆▇█`. A constant series runs along the middle. */
export function sparkline(values: readonly number[], width: number): string {
  const shown = condensed(values.filter(Number.isFinite), Math.max(0, width))
  const low = Math.min(...shown)
  const high = Math.max(...shown)
  return shown
    .map((value) => {
      // Halved, so that the difference of huge numbers stays finite.
      const share = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.45
      return blocks[Math.min(blocks.length - 1, Math.floor(share * blocks.length))]
    })
    .join('')
}
