import type { AgentGraph } from '../agent-graph.ts'
import { type LayeredLayout, layeredLayout, type Slot } from './layered-layout.ts'
import { nodesOf, outerPicture, type Picture, type PictureNode } from './picture.ts'
import { down, left, right, up, wiresBetween } from './wires.ts'

export interface TerminalStyle {
  /** Only the 95 printable ASCII characters, for consoles and logs that cannot do better. */
  readonly ascii?: boolean
  /** Columns that the terminal has. Where the names do not fit, numbers stand in the boxes and a list below. */
  readonly columns?: number
}

/**
 * Draws the outer graph: rows by dependency, the finalizer last. A single frame is one agent, a double one a group, a round
 * one the finalizer. Lines run downwards, each belongs to one source, and where two cross the horizontal one is interrupted.
 */
export function drawGraph(graph: AgentGraph, { ascii = false, columns = 80 }: TerminalStyle = {}): string {
  const glyphs = ascii ? asciiGlyphs : boxGlyphs
  const named = withLabels(outerPicture(graph), ({ label }) => (ascii ? asciiText(label) : label))
  const layout = layeredLayout(named, textWidth)
  if (layout.width <= columns) return draw(layout, glyphs)
  const numbered = withLabels(named, ({ label, kind }, index) => (kind === 'end' ? label : `${index + 1}`))
  const list = nodesOf(named)
    .filter(({ kind }) => kind !== 'end')
    .map(({ label }, index) => `${index + 1} = ${label}\n`)
  return `${draw(layeredLayout(numbered, textWidth), glyphs)}\n${list.join('')}`
}

/** Corners from the upper left clockwise, horizontal, vertical, and the lower edge where a line leaves. */
type Frame = readonly [string, string, string, string, string, string, string]

interface Glyphs {
  readonly frames: Readonly<Record<PictureNode['kind'], Frame>>
  readonly arrow: string
  readonly wire: (directions: number) => string
}

const boxWires = new Map([
  [up | down, '│'],
  [left | right, '─'],
  [up | right, '└'],
  [up | left, '┘'],
  [down | right, '┌'],
  [down | left, '┐'],
  [up | down | right, '├'],
  [up | down | left, '┤'],
  [left | right | down, '┬'],
  [left | right | up, '┴'],
])

const boxGlyphs: Glyphs = {
  frames: {
    agent: ['┌', '┐', '┘', '└', '─', '│', '┬'],
    group: ['╔', '╗', '╝', '╚', '═', '║', '╤'],
    end: ['╭', '╮', '╯', '╰', '─', '│', '┬'],
  },
  arrow: '▼',
  wire: (directions) => boxWires.get(directions)!,
}

const asciiGlyphs: Glyphs = {
  frames: {
    agent: ['+', '+', '+', '+', '-', '|', '+'],
    group: ['#', '#', '#', '#', '=', '#', '+'],
    end: ['.', '.', "'", "'", '-', '|', '+'],
  },
  arrow: 'v',
  wire: (directions) => (directions === (up | down) ? '|' : directions === (left | right) ? '-' : '+'),
}

function draw({ rows }: LayeredLayout, glyphs: Glyphs): string {
  const canvas: string[][] = []
  const put = (row: number, column: number, text: string) => {
    while (canvas.length <= row) canvas.push([])
    canvas[row]![column] = text
  }
  let top = 0
  for (const [index, row] of rows.entries()) {
    const below = rows[index + 1] ?? []
    for (const slot of row) drawSlot(slot, top, below.length > 0, glyphs, put)
    top += boxHeight
    const { height, cells } = wiresBetween(row, below)
    for (const { row: line, column, directions } of cells) put(top + line, column, glyphs.wire(directions))
    for (const { node, entries } of below) {
      if (node) for (const { column } of entries) put(top + height - 1, column, glyphs.arrow)
    }
    top += height
  }
  return canvas
    .map(
      (line) =>
        `${Array.from(line, (cell) => cell ?? ' ')
          .join('')
          .trimEnd()}\n`,
    )
    .join('')
}

const boxHeight = 3

function drawSlot(
  { node, center, reach }: Slot,
  top: number,
  leaves: boolean,
  glyphs: Glyphs,
  put: (row: number, column: number, text: string) => void,
): void {
  if (node === undefined) {
    for (let row = 0; row < boxHeight; row += 1) put(top + row, center, glyphs.wire(up | down))
    return
  }
  const [upperLeft, upperRight, lowerRight, lowerLeft, horizontal, vertical, exit] = glyphs.frames[node.kind]
  const edge = horizontal.repeat(2 * reach - 1)
  const spare = 2 * reach - 1 - textWidth(node.label)
  const before = Math.floor(spare / 2)
  const lines = [
    `${upperLeft}${edge}${upperRight}`,
    `${vertical}${' '.repeat(before)}${node.label}${' '.repeat(spare - before)}${vertical}`,
    `${lowerLeft}${edge}${lowerRight}`,
  ]
  for (const [row, line] of lines.entries()) {
    let column = center - reach
    for (const character of graphemes(line)) {
      put(top + row, column, character)
      // A wide character covers the next cell too; nothing may be written there.
      for (let covered = 1; covered < textWidth(character); covered += 1) put(top + row, column + covered, '')
      column += textWidth(character)
    }
  }
  if (leaves && node.kind !== 'end') put(top + 2, center, exit)
}

function withLabels(picture: Picture, labelOf: (node: PictureNode, index: number) => string): Picture {
  return {
    ...picture,
    parts: nodesOf(picture).map((node, index) => ({ ...node, label: labelOf(node, index) })),
  }
}

function asciiText(text: string): string {
  return text.replace(/[^ -~]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

const wide =
  /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u

/** Terminal cells that a text takes: East Asian characters and emoji take two. */
function textWidth(text: string): number {
  return graphemes(text).reduce((sum, character) => sum + (wide.test(character) ? 2 : 1), 0)
}
