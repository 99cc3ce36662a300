import type { Place } from './drawing.ts'

/** Approximate size of a letter in both formats. */
const letter = { width: 6.2, height: 12 }
const away = 7

export interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Places labels so that they do not cover points, each other or reserved areas, as far as possible. */
export function placeLabels(
  points: readonly { readonly at: Place; readonly text: string }[],
  reserved: readonly Box[],
): Place[] {
  const taken: Box[] = [
    ...reserved,
    ...points.map(({ at: [x, y] }) => ({
      left: x - 4,
      right: x + 4,
      top: y - 4,
      bottom: y + 4,
    })),
  ]
  return points.map(({ at: [x, y], text }) => {
    const width = text.length * letter.width
    const choices = [1, 2, 3, 4, 5].flatMap((step): Place[] => [
      [x + away, y - away * step],
      [x + away, y + away * step],
      [x - away - width, y - away * step],
      [x - away - width, y + away * step],
    ])
    const free = choices.find((place) => !taken.some((box) => overlap(box, boxAt(place, width))))
    const chosen = free ?? choices[0]!
    taken.push(boxAt(chosen, width))
    return chosen
  })
}

function boxAt([x, y]: Place, width: number): Box {
  return { left: x, right: x + width, top: y - letter.height / 2, bottom: y + letter.height / 2 }
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}
