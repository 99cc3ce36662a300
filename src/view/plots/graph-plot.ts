import type { Unit } from '../../graph/agent-graph.ts'
import { drawing, place, rectangle, type SvgElement, svgElement, text } from './svg.ts'

const [boxWidth, boxHeight, gapX, gapY] = [132, 26, 34, 12]

/** An agent graph from left to right; a double frame is a group, and the finalizer stands last. */
export function graphPlot(units: readonly Unit[]): SvgElement {
  const levels: number[] = []
  for (const { predecessors } of units)
    levels.push(Math.max(-1, ...predecessors.map((one) => levels[one]!)) + 1)
  const columns = Math.max(-1, ...levels) + 1
  const rows = Math.max(
    1,
    ...Array.from({ length: columns }, (_, level) => levels.filter((one) => one === level).length),
  )
  const height = rows * (boxHeight + gapY) + gapY
  const boxes = units.map((unit, position) => {
    const same = [...levels.keys()].filter((other) => levels[other] === levels[position])
    const stack = same.length * (boxHeight + gapY) - gapY
    return {
      unit,
      x: 4 + levels[position]! * (boxWidth + gapX),
      y: (height - stack) / 2 + same.indexOf(position) * (boxHeight + gapY),
    }
  })
  const end = { x: 4 + columns * (boxWidth + gapX), y: (height - boxHeight) / 2, width: 84 }
  const listeners = new Set(units.flatMap(({ predecessors }) => predecessors))
  const wires = [
    ...boxes.flatMap((box) => box.unit.predecessors.map((from) => wire(boxes[from]!, box))),
    ...boxes.filter((_, position) => !listeners.has(position)).map((box) => wire(box, end)),
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
      text(shortened(unit.role), x + boxWidth / 2, y + 17, { class: 'unit-label', 'text-anchor': 'middle' }),
    ]),
    rectangle({ ...end, height: boxHeight }, 'unit end', { rx: boxHeight / 2 }),
    text(name, end.x + end.width / 2, end.y + 17, { class: 'unit-label', 'text-anchor': 'middle' }),
  ])
}

function wire(from: { x: number; y: number }, to: { x: number; y: number }): SvgElement {
  const [x1, y1] = [from.x + boxWidth, from.y + boxHeight / 2]
  const [x2, y2] = [to.x, to.y + boxHeight / 2]
  const bend = Math.max(14, (x2 - x1) / 2)
  const d = `M${place(x1)} ${place(y1)}C${place(x1 + bend)} ${place(y1)} ${place(x2 - bend)} ${place(y2)} ${place(x2)} ${place(y2)}`
  return svgElement('path', { d, class: 'wire' })
}

function shortened(role: string): string {
  return role.length > 20 ? `${role.slice(0, 19)}…` : role
}
