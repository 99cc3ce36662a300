export interface PlotPoint {
  /** What it takes. */
  readonly x: number
  /** What it gives. */
  readonly y: number
}

/** Positions of the points that no other one beats: none gives as much for less, or more for as much. By rising `x`. */
export function frontierPositions(points: readonly PlotPoint[]): number[] {
  const order = [...points.keys()].sort((a, b) => points[a]!.x - points[b]!.x || points[b]!.y - points[a]!.y)
  let best = Number.NEGATIVE_INFINITY
  return order.filter((position) => {
    const { y } = points[position]!
    if (!(y > best)) return false
    best = y
    return true
  })
}
