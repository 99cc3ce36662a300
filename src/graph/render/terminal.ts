import type { AgentGraph } from '../agent-graph.ts'
import { type LayeredLayout, layeredLayout } from './layered-layout.ts'
import { nodesOf, outerPicture, type Picture, type PictureNode } from './picture.ts'
import { down, left, right, up, wiresBetween } from './wires.ts'

export interface TerminalStyle {
  /** Only the 95 printable ASCII characters, for consoles and logs that cannot do better. */
  readonly ascii?: boolean
  /**
   * Columns that the terminal has. Where the names do not fit, numbers stand in the boxes and a list below.
   */
  readonly columns?: number
}

/**
 * Draws the outer graph: rows by dependency, the finalizer last. A single frame is one agent, a double one a
 * group, a round one the finalizer. Lines run downwards, each belongs to one source, and where two cross the
 * horizontal one is interrupted.
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

const boxHeight = 3

function draw({ rows }: LayeredLayout, glyphs: Glyphs): string {
  const canvas: string[][] = []
  // A text that covers several cells lies in the first one; the others stay empty.
  const put = (row: number, column: number, text: string, cells = 1) => {
    while (canvas.length <= row) canvas.push([])
    for (let covered = 1; covered < cells; covered += 1) canvas[row]![column + covered] = ''
    canvas[row]![column] = text
  }
  let top = 0
  for (const [index, row] of rows.entries()) {
    const below = rows[index + 1] ?? []
    for (const { node, center, reach } of row) {
      const lines = node
        ? box(node, reach, glyphs)
        : new Array<string>(boxHeight).fill(glyphs.wire(up | down))
      for (const [line, text] of lines.entries()) put(top + line, center - reach, text, 2 * reach + 1)
    }
    top += boxHeight
    const { height, cells } = wiresBetween(row, below)
    for (const { row: line, column, directions } of cells) put(top + line, column, glyphs.wire(directions))
    for (const { node, entries } of below) {
      if (node) for (const { column } of entries) put(top + height - 1, column, glyphs.arrow)
    }
    top += height
  }
  return canvas.map((line) => `${joined(line).trimEnd()}\n`).join('')
}

/** The lines of a box; every node but the last has a line that leaves below. */
function box({ label, kind }: PictureNode, reach: number, { frames }: Glyphs): string[] {
  const [upperLeft, upperRight, lowerRight, lowerLeft, horizontal, vertical, exit] = frames[kind]
  const half = horizontal.repeat(reach - 1)
  const spare = 2 * reach - 1 - textWidth(label)
  const before = Math.floor(spare / 2)
  return [
    `${upperLeft}${half}${horizontal}${half}${upperRight}`,
    `${vertical}${' '.repeat(before)}${label}${' '.repeat(spare - before)}${vertical}`,
    `${lowerLeft}${half}${kind === 'end' ? horizontal : exit}${half}${lowerRight}`,
  ]
}

function joined(line: readonly (string | undefined)[]): string {
  return Array.from(line, (cell) => cell ?? ' ').join('')
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

const wide =
  /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u

/** Terminal cells that a text takes: East Asian characters and emoji take two. */
function textWidth(text: string): number {
  let width = 0
  for (const { segment } of segmenter.segment(text)) width += wide.test(segment) ? 2 : 1
  return width
}
