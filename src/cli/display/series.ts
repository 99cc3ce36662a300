/** The mean of each value and those before it, `window` together; the first few, which have too few before them, are left out. */
export function movingMean(values: readonly number[], window: number): number[] {
  return values.slice(window - 1).map((_, index) => mean(values.slice(index, index + window)))
}

/** At most `count` values: means of neighbours, each of about as many. */
export function condensed(values: readonly number[], count: number): readonly number[] {
  if (values.length <= count) return values
  const place = (index: number) => Math.floor((index * values.length) / count)
  return Array.from({ length: count }, (_, index) => mean(values.slice(place(index), place(index + 1))))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value / values.length, 0)
}

const blocks = '▁▂▃▄▅▆▇█'

/** A series in one line, `▁▂▃▅▆▇█`; one that never changes runs along the middle. */
export function sparkline(values: readonly number[], width: number): string {
  const shown = condensed(values.filter(Number.isFinite), Math.max(0, width))
  const low = Math.min(...shown)
  const high = Math.max(...shown)
  return shown
    .map((value) => {
      // Halved, or the difference of the largest numbers would be infinite.
      const share = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.45
      return blocks[Math.min(blocks.length - 1, Math.floor(share * blocks.length))]
    })
    .join('')
}
