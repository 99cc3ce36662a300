import type { Slot } from './layered-layout.ts'

/** Directions in which a line leaves a cell; their sum is the index into `signs`. */
const up = 1
const down = 2
const left = 4
const right = 8
const signs = '   │ ┘┐┤ └┌├─┴┬'

/** A horizontal stretch of a line, from its exit's column to some of its entries. */
interface Track {
  readonly source: number
  readonly exit: number
  readonly entries: readonly number[]
  readonly from: number
  readonly to: number
}

/**
 * The text between two rows of boxes, as signs by column. It connects every line's exit in the row above with its
 * entries in the row below. A vertical covers the horizontal of another line, so crossings interrupt the horizontal
 * one: a cell with three ends is always a branch of a single line, and no cell has four.
 */
export function wiresBetween(above: readonly Slot[], below: readonly Slot[]): string[][] {
  const lines = above.map(({ source, center: exit }) => {
    const own = below.flatMap(({ entries }) => entries).filter((entry) => entry.source === source)
    return { source, exit, entries: own.map(({ column }) => column) }
  })
  const tracks = lines.flatMap(tracksOf).sort((a, b) => sortKey(a) - sortKey(b))
  const rows = rowsOf(tracks)
  // In the last line of text, all lines run straight down into the entries.
  const height = Math.max(0, ...rows.map((row) => row + 1)) + 1
  const cells = Array.from({ length: height }, (): { source: number; ends: number }[] => [])
  const draw = (source: number, row: number, column: number, ends: number) => {
    const present = cells[row]![column]
    cells[row]![column] = { source, ends: present?.source === source ? present.ends | ends : ends }
  }
  const drawVertical = (source: number, column: number, first: number, end: number) => {
    for (let row = first; row < end; row += 1) draw(source, row, column, up | down)
  }
  for (const [index, { source, from, to }] of tracks.entries())
    for (let column = from; column <= to; column += 1)
      draw(source, rows[index]!, column, (column > from ? left : 0) | (column < to ? right : 0))
  for (const [index, { source, exit, entries }] of tracks.entries()) {
    const row = rows[index]!
    drawVertical(source, exit, 0, row)
    draw(source, row, exit, up)
    for (const column of entries) {
      draw(source, row, column, down)
      drawVertical(source, column, row + 1, height)
    }
  }
  for (const { source, exit, entries } of lines)
    if (entries.includes(exit)) drawVertical(source, exit, 0, height)
  const drawn = cells.map((line) => line.map(({ ends }) => signs[ends]!))
  for (const { node, entries } of below)
    if (node) for (const { column } of entries) drawn.at(-1)![column] = '▼'
  return drawn
}

/** One stretch to all entries, or one per side if the line also runs straight down, so that no cell has four ends. */
function tracksOf({ source, exit, entries }: Pick<Track, 'source' | 'exit' | 'entries'>): Track[] {
  const aside = entries.filter((column) => column !== exit)
  const sides = entries.includes(exit)
    ? [aside.filter((column) => column < exit), aside.filter((column) => column > exit)]
    : [aside]
  return sides
    .filter((columns) => columns.length > 0)
    .map((columns) => {
      const [from, to] = [Math.min(exit, ...columns), Math.max(exit, ...columns)]
      return { source, exit, entries: columns, from, to }
    })
}

/**
 * From top to bottom. Of lines going the same way, the one that starts farthest along comes first, so that they do
 * not cross.
 */
function sortKey({ exit, to }: Track): number {
  return to > exit ? -exit : exit
}

/** Tracks share a row if at least one column stays free between them. */
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
