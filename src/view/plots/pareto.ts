export interface PlotPoint {
  /** Its cost. */
  readonly x: number
  /** Its benefit. */
  readonly y: number
}

/** Positions of the points that no other dominates, that is, none has as much `y` for less `x`. By ascending `x`. */
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
