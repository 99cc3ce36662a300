import type { Slot } from './layered-layout.ts'

/** The directions in which a line goes on from a cell. */
export const up = 1
export const down = 2
export const left = 4
export const right = 8

/** The lines between two rows of boxes. */
export interface Wires {
  /**
   * Lines of text that they take. In the last one all run straight down into the entries of the row below.
   */
  readonly height: number
  readonly cells: readonly WireCell[]
}

interface WireCell {
  readonly row: number
  readonly column: number
  /** Sum of the directions. */
  readonly directions: number
}

/** What leaves one slot of the upper row. */
interface Line {
  readonly source: number
  readonly exit: number
  readonly entries: readonly number[]
}

/** A horizontal stretch of a line, from the column of its exit to some of its entries. */
interface Track {
  readonly line: Line
  readonly entries: readonly number[]
  readonly from: number
  readonly to: number
}

/**
 * Leads every line from its exit in the row above to its entries in the row below. A vertical that meets the
 * horizontal of another line covers it: lines cross with the horizontal one interrupted, so a cell with three
 * ends is always a branch of a single line, and no cell has four.
 */
export function wiresBetween(above: readonly Slot[], below: readonly Slot[]): Wires {
  const lines = linesBetween(above, below)
  const tracks = arranged(lines.flatMap(tracksOf))
  const rows = rowsOf(tracks)
  const height = 1 + Math.max(0, ...rows.map((row) => row + 1))
  const cells = new Map<string, WireCell & { source: number }>()
  const draw = (source: number, row: number, column: number, added: number) => {
    const key = `${row},${column}`
    const present = cells.get(key)
    const directions = present?.source === source ? present.directions | added : added
    cells.set(key, { source, row, column, directions })
  }
  // Heights are measured from the upper edge: row r reaches from r to r + 1 and its track runs at r + 0.5.
  const drawVertical = (source: number, column: number, top: number, bottom: number) => {
    for (let row = Math.floor(top); row < bottom; row += 1) {
      draw(source, row, column, (top <= row ? up : 0) | (bottom >= row + 1 ? down : 0))
    }
  }
  for (const [index, { line, from, to }] of tracks.entries()) {
    for (let column = from; column <= to; column += 1) {
      draw(line.source, rows[index]!, column, (column > from ? left : 0) | (column < to ? right : 0))
    }
  }
  for (const [index, { line, entries }] of tracks.entries()) {
    drawVertical(line.source, line.exit, 0, rows[index]! + 0.5)
    for (const column of entries) drawVertical(line.source, column, rows[index]! + 0.5, height)
  }
  for (const { source, exit, entries } of lines)
    if (entries.includes(exit)) drawVertical(source, exit, 0, height)
  return { height, cells: [...cells.values()] }
}

function linesBetween(above: readonly Slot[], below: readonly Slot[]): Line[] {
  const all = below.flatMap((slot) => slot.entries)
  return above.map(({ source, center }) => ({
    source,
    exit: center,
    entries: all.filter((entry) => entry.source === source).map(({ column }) => column),
  }))
}

/**
 * One stretch to all entries, or one to each side where the line also runs straight on: a cell never has four
 * ends.
 */
function tracksOf(line: Line): Track[] {
  const { exit, entries } = line
  const aside = entries.filter((column) => column !== exit)
  const sides = entries.includes(exit)
    ? [aside.filter((column) => column < exit), aside.filter((column) => column > exit)]
    : [aside]
  return sides
    .filter((columns) => columns.length > 0)
    .map((columns) => ({
      line,
      entries: columns,
      from: Math.min(exit, ...columns),
      to: Math.max(exit, ...columns),
    }))
}

/** From top to bottom with few crossings: each track goes where it adds the least. */
function arranged(tracks: readonly Track[]): Track[] {
  const order: Track[] = []
  for (const track of tracks) {
    const costs = Array.from({ length: order.length + 1 }, (_, place) =>
      order.reduce(
        (sum, other, index) => sum + (index < place ? crossed(other, track) : crossed(track, other)),
        0,
      ),
    )
    order.splice(costs.indexOf(Math.min(...costs)), 0, track)
  }
  return order
}

/** Crossings of two tracks when one lies above the other. */
function crossed(upper: Track, lower: Track): number {
  const within = (column: number, { from, to }: Track) => column > from && column < to
  const under = lower.line.entries.includes(lower.line.exit) ? 0 : Number(within(lower.line.exit, upper))
  return under + upper.entries.filter((column) => within(column, lower)).length
}

/** Tracks share a row where at least one column stays free between them. */
function rowsOf(tracks: readonly Track[]): number[] {
  const rows: number[] = []
  for (const track of tracks) {
    const overlapping = [...rows.keys()].filter((index) => {
      const other = tracks[index]!
      return track.from <= other.to + 1 && other.from <= track.to + 1
    })
    rows.push(Math.max(0, ...overlapping.map((index) => rows[index]! + 1)))
  }
  return rows
}
