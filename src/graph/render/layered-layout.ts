import { nodesOf, type Picture, type PictureNode } from './picture.ts'

/**
 * Where the boxes and lines of a drawing go, in character columns. Nodes are placed in rows by dependency. Every line
 * belongs to its source node: it leaves below the box and branches to the targets, which have one entry per line. A
 * line that passes a row without a target there gets a lane between the boxes. All exits, entries and lanes are an
 * even number of columns apart, and lines of different sources never use the same column between two rows, so they
 * can cross but never touch.
 */
export interface LayeredLayout {
  readonly rows: readonly (readonly Slot[])[]
  readonly width: number
}

/** A place in a row: a node, or the lane of a passing line. */
export interface Slot {
  /** The source of the line that leaves here. */
  readonly source: number
  /** Absent for a lane. */
  readonly node?: PictureNode
  /** The middle column, where the line leaves. */
  center: number
  /** Columns on either side of the middle: 0 for a lane, odd for a node, so that no line meets a corner. */
  readonly reach: number
  /** Incoming lines, from left to right. */
  readonly entries: { readonly source: number; column: number }[]
}

const entrySpacing = 4
const slotSpacing = 3

export function layeredLayout(picture: Picture, labelWidth: (label: string) => number): LayeredLayout {
  const rows = rowsOf(picture, labelWidth)
  for (const [index, row] of rows.entries()) placeRow(row, rows[index - 1] ?? [])
  const slots = rows.flat()
  const left = Math.min(...slots.map(({ center, reach }) => center - reach))
  for (const slot of slots) moveTo(slot, slot.center - left)
  return { rows, width: 1 + Math.max(...slots.map(({ center, reach }) => center + reach)) }
}

function rowsOf(picture: Picture, labelWidth: (label: string) => number): Slot[][] {
  const nodes = nodesOf(picture)
  const indexOf = new Map(nodes.map(({ id }, index) => [id, index]))
  const edges = picture.edges.map(([from, to]) => [indexOf.get(from)!, indexOf.get(to)!] as const)
  const incoming = nodes.map((_, index) => edges.filter(([, to]) => to === index).map(([from]) => from))
  const levels: number[] = []
  for (const sources of incoming) levels.push(Math.max(0, ...sources.map((from) => levels[from]! + 1)))
  const rows: Slot[][] = Array.from({ length: Math.max(...levels) + 1 }, () => [])
  for (const [source, node] of nodes.entries()) {
    const entries = incoming[source]!.map((from) => ({ source: from, column: 0 }))
    const needed = Math.max(Math.ceil((labelWidth(node.label) + 3) / 2), (entries.length * entrySpacing) / 2)
    const level = levels[source]!
    rows[level]!.push({ source, node, center: 0, reach: needed + ((needed + 1) % 2), entries })
    const last = Math.max(level, ...edges.filter(([from]) => from === source).map(([, to]) => levels[to]!))
    for (let passed = level + 1; passed < last; passed += 1)
      rows[passed]!.push({ source, center: 0, reach: 0, entries: [{ source, column: 0 }] })
  }
  return rows
}

/**
 * Sorts a row by the middle of each slot's sources and places each slot below that, pushed right until it is free.
 * Then moves the row back left by the median push, so that it lies below the row above.
 */
function placeRow(row: Slot[], above: readonly Slot[]): void {
  const exits = new Map(above.map(({ source, center }) => [source, center]))
  const middles = new Map<Slot, number>()
  for (const slot of row) {
    slot.entries.sort((a, b) => exits.get(a.source)! - exits.get(b.source)!)
    const columns = slot.entries.map(({ source }) => exits.get(source)!)
    const half = columns.length / 2
    const middle = (columns[Math.ceil(half) - 1]! + columns[Math.floor(half)]!) / 2
    middles.set(slot, columns.length === 0 ? 0 : 2 * Math.round(middle / 2))
  }
  row.sort((a, b) => middles.get(a)! - middles.get(b)!)
  let free = Number.NEGATIVE_INFINITY
  for (const slot of row) {
    moveTo(slot, Math.max(middles.get(slot)!, 2 * Math.ceil((free + slot.reach) / 2)))
    while (collides(slot, exits)) moveTo(slot, slot.center + 2)
    free = slot.center + slot.reach + slotSpacing
  }
  const pushes = row.map((slot) => slot.center - middles.get(slot)!).sort((a, b) => a - b)
  let shift = -pushes[Math.floor((row.length - 1) / 2)]!
  while (row.some((slot) => collides(slot, exits, shift))) shift += 2
  for (const slot of row) moveTo(slot, slot.center + shift)
}

function moveTo(slot: Slot, center: number): void {
  slot.center = center
  const first = center - ((slot.entries.length - 1) * entrySpacing) / 2
  for (const [index, entry] of slot.entries.entries()) entry.column = first + index * entrySpacing
}

/** Whether an incoming line, moved by `shift`, would use a column where another line leaves the row above. */
function collides(slot: Slot, exits: ReadonlyMap<number, number>, shift = 0): boolean {
  return slot.entries.some(({ source, column }) =>
    [...exits].some(([other, exit]) => other !== source && exit === column + shift),
  )
}
