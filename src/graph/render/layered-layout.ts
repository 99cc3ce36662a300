import { nodesOf, type Picture, type PictureNode } from './picture.ts'

/**
 * Where the boxes and lines of a drawing go, in character columns. Nodes lie in rows by dependency. Every
 * line belongs to one node, its source: it leaves by one place below the box and branches to the targets,
 * each of which has an own entry for every line. Where a line passes a row without a target there, it has a
 * lane between the boxes. All exits, entries and lanes lie an even number of columns apart, and lines of
 * different sources never use the same column between two rows, so that they can cross but never touch.
 */
export interface LayeredLayout {
  readonly rows: readonly (readonly Slot[])[]
  readonly width: number
}

/** One place in a row: a node, or the lane of a line that passes by. */
export interface Slot {
  /** The source of the line that leaves here. */
  readonly source: number
  /** Absent for a lane. */
  readonly node?: PictureNode
  /** Column of the middle, where the line leaves. Changes while the layout is being made. */
  center: number
  /** Columns to either side of the middle: 0 for a lane, odd for a node, so that no line ever meets a corner. */
  readonly reach: number
  /** The lines that come in, from left to right. */
  readonly entries: { readonly source: number; column: number }[]
}

const entrySpacing = 4
const slotSpacing = 3

export function layeredLayout(picture: Picture, labelWidth: (label: string) => number): LayeredLayout {
  const rows = rowsOf(picture, labelWidth)
  orderRows(rows)
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
  const levels: number[] = []
  for (const target of nodes.keys()) {
    const sources = edges.filter(([, to]) => to === target).map(([from]) => from)
    levels.push(Math.max(0, ...sources.map((from) => levels[from]! + 1)))
  }
  const rows: Slot[][] = Array.from({ length: Math.max(...levels) + 1 }, () => [])
  for (const [source, node] of nodes.entries()) {
    const incoming = edges.filter(([, to]) => to === source).map(([from]) => from)
    const needed = Math.max(Math.ceil((labelWidth(node.label) + 3) / 2), (incoming.length * entrySpacing) / 2)
    const reach = needed + ((needed + 1) % 2)
    const level = levels[source]!
    rows[level]!.push({
      source,
      node,
      center: 0,
      reach,
      entries: incoming.map((from) => ({ source: from, column: 0 })),
    })
    const last = Math.max(level, ...edges.filter(([from]) => from === source).map(([, to]) => levels[to]!))
    for (let passed = level + 1; passed < last; passed += 1) {
      rows[passed]!.push({ source, center: 0, reach: 0, entries: [{ source, column: 0 }] })
    }
  }
  return rows
}

/**
 * Sorts each row by the middle of what its slots connect to, down and up again, and keeps the calmest
 * arrangement.
 */
function orderRows(rows: Slot[][]): void {
  let best = rows.map((row) => [...row])
  const keepBest = () => {
    if (crossings(rows) < crossings(best)) best = rows.map((row) => [...row])
  }
  for (let sweep = 0; sweep < 4; sweep += 1) {
    for (const [index, row] of rows.entries()) {
      const above = placesBySource(rows[index - 1] ?? [])
      sortBy(row, (slot) => slot.entries.map(({ source }) => above.get(source)!))
    }
    keepBest()
    for (const [index, row] of [...rows.entries()].toReversed()) {
      const below = [...(rows[index + 1] ?? []).entries()]
      const hears = (slot: Slot, source: number) => slot.entries.some((entry) => entry.source === source)
      sortBy(row, ({ source }) => below.filter(([, slot]) => hears(slot, source)).map(([place]) => place))
    }
    keepBest()
  }
  for (const [index, row] of best.entries()) rows[index] = row
  for (const [index, row] of rows.entries()) {
    const above = placesBySource(rows[index - 1] ?? [])
    for (const slot of row) slot.entries.sort((a, b) => above.get(a.source)! - above.get(b.source)!)
  }
}

function sortBy(row: Slot[], neighbours: (slot: Slot) => number[]): void {
  const keys = new Map(
    row.map((slot, place) => {
      const places = neighbours(slot)
      const mean = places.reduce((sum, value) => sum + value, 0) / places.length
      return [slot, places.length === 0 ? place : mean]
    }),
  )
  row.sort((a, b) => keys.get(a)! - keys.get(b)!)
}

function crossings(rows: readonly (readonly Slot[])[]): number {
  let count = 0
  for (const [index, row] of rows.entries()) {
    const above = placesBySource(rows[index - 1] ?? [])
    const ends = row.map((slot) => slot.entries.map(({ source }) => above.get(source)!))
    for (const [place, left] of ends.entries()) {
      for (const right of ends.slice(place + 1)) {
        count += left.reduce((sum, a) => sum + right.filter((b) => b < a).length, 0)
      }
    }
  }
  return count
}

function placesBySource(row: readonly Slot[]): Map<number, number> {
  return new Map(row.map(({ source }, place) => [source, place]))
}

/**
 * Each slot below what it listens to, pushed right until it is free; then the row as a whole where lines are
 * shortest.
 */
function placeRow(row: readonly Slot[], above: readonly Slot[]): void {
  const exits = new Map(above.map(({ source, center }) => [source, center]))
  let free = Number.NEGATIVE_INFINITY
  for (const slot of row) {
    const wanted = slot.entries.map(({ source }) => exits.get(source)!)
    const middle = wanted.reduce((sum, column) => sum + column, 0) / Math.max(1, wanted.length)
    const leftmost = free === Number.NEGATIVE_INFINITY ? middle : Math.max(middle, free + slot.reach)
    moveTo(slot, 2 * Math.ceil(leftmost / 2))
    while (collides(slot, exits)) moveTo(slot, slot.center + 2)
    free = slot.center + slot.reach + slotSpacing
  }
  let best = { shift: 0, cost: cost(row, exits) }
  const columns = [...exits.values(), ...row.map(({ center }) => center)]
  const farthest = Math.max(...columns) - Math.min(...columns)
  for (let distance = 2; distance <= farthest; distance += 2) {
    for (const shift of [-distance, distance]) {
      for (const slot of row) moveTo(slot, slot.center + shift)
      const candidate = cost(row, exits)
      if (candidate < best.cost) best = { shift, cost: candidate }
      for (const slot of row) moveTo(slot, slot.center - shift)
    }
  }
  for (const slot of row) moveTo(slot, slot.center + best.shift)
}

function moveTo(slot: Slot, center: number): void {
  slot.center = center
  const first = center - ((slot.entries.length - 1) * entrySpacing) / 2
  for (const [index, entry] of slot.entries.entries()) entry.column = first + index * entrySpacing
}

/** Whether a line that comes in would use the column in which another one leaves above. */
function collides(slot: Slot, exits: ReadonlyMap<number, number>): boolean {
  return slot.entries.some(({ source, column }) =>
    [...exits].some(([other, exit]) => other !== source && exit === column),
  )
}

/** Columns travelled sideways, and a little for every bend. */
function cost(row: readonly Slot[], exits: ReadonlyMap<number, number>): number {
  if (row.some((slot) => collides(slot, exits))) return Number.POSITIVE_INFINITY
  const bend = 3
  const lengths = row.flatMap((slot) =>
    slot.entries.map(({ source, column }) => Math.abs(exits.get(source)! - column)),
  )
  return lengths.reduce((sum, length) => sum + length + (length > 0 ? bend : 0), 0)
}
