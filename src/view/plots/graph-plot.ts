import type { Unit } from '../../graph/agent-graph.ts'
import {
  drawing,
  place,
  rectangle,
  type SvgElement,
  shortenedText,
  svgElement,
  text,
  textWidth,
} from './svg.ts'

const [boxHeight, gapX, gapY] = [26, 34, 12]
const fontSize = 10.5
/** Boxes are as wide as the longest name, within these bounds. */
const [narrowest, widest] = [96, 210]

/** An agent graph from left to right. A double frame is a group; the finalizer comes last. */
export function graphPlot(units: readonly Unit[]): SvgElement {
  const levels: number[] = []
  for (const { predecessors } of units)
    levels.push(Math.max(-1, ...predecessors.map((one) => levels[one]!)) + 1)
  const columns = Math.max(-1, ...levels) + 1
  const longest = Math.max(0, ...units.map(({ role }) => textWidth(role, fontSize)))
  const boxWidth = Math.min(widest, Math.max(narrowest, Math.ceil(longest) + 18))
  const lanes = lanesOf(units, levels, columns)
  const rows = Math.max(1, ...lanes.map(({ length }) => length))
  const height = rows * (boxHeight + gapY) + gapY
  const placeOf = (unit: number, level: number): Place => ({
    x: 4 + level * (boxWidth + gapX),
    y: heightIn(lanes[level]!, unit) + (height - boxHeight) / 2,
  })
  const boxes = units.map((unit, position) => ({ unit, ...placeOf(position, levels[position]!) }))
  const end = { x: 4 + columns * (boxWidth + gapX), y: (height - boxHeight) / 2, width: 84 }
  const heard = new Set(units.flatMap(({ predecessors }) => predecessors))
  const wireTo = (from: number, level: number, to: Place) => {
    const passed = Array.from({ length: level - levels[from]! }, (_, step) =>
      placeOf(from, levels[from]! + step),
    )
    return wire([...passed, to], boxWidth)
  }
  const wires = [
    ...boxes.flatMap((box, position) =>
      box.unit.predecessors.map((from) => wireTo(from, levels[position]!, box)),
    ),
    ...units.flatMap((_, position) => (heard.has(position) ? [] : [wireTo(position, columns, end)])),
  ]
  const name = units.length === 0 ? 'direct' : 'finalizer'
  const title =
    units.length === 0
      ? 'No unit: one direct answer'
      : `Graph of ${units.map(({ role, realization }) => `${role} as ${realization}`).join(', ')}`
  return drawing(end.x + end.width + 4, height, title, [
    ...wires,
    ...boxes.flatMap(({ unit, x, y }) => [
      rectangle(
        { x, y, width: boxWidth, height: boxHeight },
        unit.realization === 'group' ? 'unit group' : 'unit',
        { rx: 6 },
      ),
      ...(unit.realization === 'group'
        ? [
            rectangle({ x: x + 3, y: y + 3, width: boxWidth - 6, height: boxHeight - 6 }, 'unit inner', {
              rx: 4,
            }),
          ]
        : []),
      shortenedText(unit.role, boxWidth - 12, x + boxWidth / 2, y + 17, {
        fontSize,
        class: 'unit-label',
        'text-anchor': 'middle',
      }),
    ]),
    rectangle({ ...end, height: boxHeight }, 'unit end', { rx: boxHeight / 2 }),
    text(name, end.x + end.width / 2, end.y + 17, { class: 'unit-label', 'text-anchor': 'middle' }),
  ])
}

interface Place {
  readonly x: number
  readonly y: number
}

/**
 * What each column holds, from top to bottom: its own units, and a free lane for every wire that passes through, so that no
 * wire runs behind a box.
 */
function lanesOf(units: readonly Unit[], levels: readonly number[], columns: number): number[][] {
  const furthest = units.map((_, position) => {
    const listeners = levels.filter((_, other) => units[other]!.predecessors.includes(position))
    return listeners.length === 0 ? columns : Math.max(...listeners)
  })
  const lanes: number[][] = []
  for (let level = 0; level < columns; level++) {
    const before = lanes.at(-1) ?? []
    const heightBefore = (unit: number) => {
      const from = levels[unit]! < level ? [unit] : units[unit]!.predecessors
      return from.reduce((sum, one) => sum + heightIn(before, one), 0) / Math.max(1, from.length)
    }
    const here = [...units.keys()].filter((unit) => levels[unit]! <= level && level < furthest[unit]!)
    lanes.push(here.toSorted((a, b) => heightBefore(a) - heightBefore(b)))
  }
  return lanes
}

/** A unit's distance from the middle of the column. */
function heightIn(column: readonly number[], unit: number): number {
  return (column.indexOf(unit) - (column.length - 1) / 2) * (boxHeight + gapY)
}

/** Starts at a box, runs through free lanes, ends at the last place. */
function wire(places: readonly Place[], boxWidth: number): SvgElement {
  const middle = ({ y }: Place) => place(y + boxHeight / 2)
  const parts = places.slice(1).map((to, position) => {
    const from = places[position]!
    const [x1, x2] = [from.x + boxWidth, to.x]
    const bend = Math.max(14, (x2 - x1) / 2)
    return `H${place(x1)}C${place(x1 + bend)} ${middle(from)} ${place(x2 - bend)} ${middle(to)} ${place(x2)} ${middle(to)}`
  })
  return svgElement('path', {
    d: `M${place(places[0]!.x + boxWidth)} ${middle(places[0]!)}${parts.join('')}`,
    class: 'wire',
  })
}
