/** Numbers in order; what is missing or not finite is a gap. */
export type Series = readonly (number | null | undefined)[]

export function present(value: number | null | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

/** The mean of each value and those before it, as many as the window holds. Gaps stay gaps and count for nothing. */
export function smoothed(series: Series, window: number): Series {
  if (window <= 1) return series
  return series.map((value, index) =>
    present(value) ? mean(series.slice(Math.max(0, index + 1 - window), index + 1)) : undefined,
  )
}

/** At most so many values: means of neighbours, each about as many. */
export function condensed(series: Series, count: number): Series {
  if (series.length <= count) return series
  return Array.from({ length: count }, (_, index) =>
    mean(
      series.slice(
        Math.floor((index * series.length) / count),
        Math.floor(((index + 1) * series.length) / count),
      ),
    ),
  )
}

function mean(series: Series): number | undefined {
  const values = series.filter(present)
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value / values.length, 0)
}

/** The least and the greatest value; nothing where there is none. */
export function extent(series: Series): readonly [number, number] | undefined {
  let range: readonly [number, number] | undefined
  for (const value of series) {
    if (!present(value)) continue
    range = range === undefined ? [value, value] : [Math.min(range[0], value), Math.max(range[1], value)]
  }
  return range
}
