import type { PlotFrame } from './axis.ts'
import { textWidth } from './svg.ts'

interface LabelledPoint {
  readonly label: string
  readonly x: number
  readonly y: number
  /** The ends of its whisker. */
  readonly top: number
  readonly bottom: number
}

interface LabelPlace {
  readonly x: number
  /** The text's baseline. */
  readonly y: number
  readonly anchor: 'start' | 'end'
}

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Between a point and its label. */
export const labelAway = 10
const lineHeight = 14
/**
 * Lines to try, relative to the point: its own first, then further and further above and below. On both sides that makes 38
 * places, of which another label blocks at most four, so ten labels always find room.
 */
const lines = [0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6, -7, 7, -8, 8, -9, 9]

/** Where the labels of points go, so that they cover neither each other nor, where possible, points and whiskers. */
export function labelPlaces(points: readonly LabelledPoint[], frame: PlotFrame): LabelPlace[] {
  const marks = points.flatMap(({ x, y, top, bottom }) => [
    { box: { left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }, weight: 20 },
    { box: { left: x - 1, right: x + 1, top, bottom }, weight: 3 },
  ])
  const taken: Box[] = []
  return points.map(({ label, x, y }) => {
    const width = textWidth(label)
    const places = lines.flatMap((line, far) =>
      (['start', 'end'] as const).map((anchor) => {
        const place = {
          x: anchor === 'start' ? x + labelAway : x - labelAway,
          y: y + 4 + line * lineHeight,
          anchor,
        }
        const box = boxOf(place, width)
        const isOutside =
          box.left < frame.left ||
          box.right > frame.right ||
          box.top < frame.top - lineHeight ||
          box.bottom > frame.bottom
        const covered = marks.reduce((sum, mark) => sum + (overlaps(box, mark.box) ? mark.weight : 0), 0)
        const hidden = taken.filter((other) => overlaps(box, other)).length * 100
        return { place, box, cost: covered + hidden + (isOutside ? 50 : 0) + far }
      }),
    )
    const best = places.reduce((least, one) => (one.cost < least.cost ? one : least))
    taken.push(best.box)
    return best.place
  })
}

function boxOf({ x, y, anchor }: LabelPlace, width: number): Box {
  const left = anchor === 'start' ? x : x - width
  return { left, right: left + width, top: y - lineHeight + 3, bottom: y + 3 }
}

function overlaps(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}
