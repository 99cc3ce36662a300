import stringWidth from 'string-width'
import type { AgentGraph } from '../agent-graph.ts'
import { type LayeredLayout, layeredLayout } from './layered-layout.ts'
import { nodesOf, outerPicture, type Picture, type PictureNode } from './picture.ts'
import { asciiDrawing, asciiText } from './visible-text.ts'
import { wiresBetween } from './wires.ts'

export interface TerminalStyle {
  /** Use only printable ASCII, for consoles and logs without Unicode. */
  readonly ascii?: boolean
  /** Width of the terminal. If the names do not fit, boxes get numbers, and a list follows. */
  readonly columns?: number
}

/**
 * Draws the outer graph: rows by dependency, the finalizer last. A single frame is one agent, a double frame a group,
 * a rounded one the finalizer. Lines run downwards and belong to one source each; where two cross, the horizontal one
 * is interrupted. If not even the numbered boxes fit, only the list is shown, with who listens to whom.
 */
export function drawGraph(graph: AgentGraph, { ascii = false, columns = 80 }: TerminalStyle = {}): string {
  const named = withLabels(outerPicture(graph), ({ label }) => (ascii ? asciiText(label) : label))
  const numbered = withLabels(named, ({ label, kind }, index) => (kind === 'end' ? label : `${index + 1}`))
  const shown = (text: string) => (ascii ? asciiDrawing(text) : text)
  const whole = layeredLayout(named, stringWidth)
  if (whole.width <= columns || graph.size === 0) return shown(draw(whole))
  const small = layeredLayout(numbered, stringWidth)
  if (small.width > columns) return unitList(graph, named, true)
  return `${shown(draw(small))}\n${unitList(graph, named, false)}`
}

function unitList({ units }: AgentGraph, named: Picture, isAlone: boolean): string {
  const labels = nodesOf(named).map(({ label }) => label)
  const lines = units.map(({ predecessors }, unit) => {
    const heard = predecessors.map((predecessor) => predecessor + 1).join(', ')
    return `${unit + 1} = ${labels[unit]}${isAlone && heard !== '' ? `, listens to ${heard}` : ''}\n`
  })
  return lines.join('')
}

function withLabels(picture: Picture, labelOf: (node: PictureNode, index: number) => string): Picture {
  return {
    ...picture,
    parts: nodesOf(picture).map((node, index) => ({ ...node, label: labelOf(node, index) })),
  }
}

/** Corners clockwise from the upper left, horizontal, vertical, and the lower edge where a line leaves. */
const frames = { agent: '┌┐┘└─│┬', group: '╔╗╝╚═║╤', end: '╭╮╯╰─│─' }

const boxHeight = 3

function draw({ rows, width }: LayeredLayout): string {
  const canvas: string[][] = []
  // A text that covers several cells is stored in the first one; the others are empty.
  const put = (row: number, column: number, text: string, cells = 1) => {
    while (canvas.length <= row) canvas.push(new Array<string>(width).fill(' '))
    canvas[row]!.fill('', column, column + cells)
    canvas[row]![column] = text
  }
  let top = 0
  for (const [index, row] of rows.entries()) {
    for (const { node, center, reach } of row) {
      const lines = node ? box(node, reach) : new Array<string>(boxHeight).fill('│')
      for (const [line, text] of lines.entries()) put(top + line, center - reach, text, 2 * reach + 1)
    }
    top += boxHeight
    const below = rows[index + 1]
    if (below === undefined) break
    const wires = wiresBetween(row, below)
    for (const [line, signs] of wires.entries())
      signs.forEach((sign, column) => {
        put(top + line, column, sign)
      })
    top += wires.length
  }
  return canvas.map((line) => `${line.join('').trimEnd()}\n`).join('')
}

function box({ label, kind }: PictureNode, reach: number): string[] {
  const [upperLeft, upperRight, lowerRight, lowerLeft, horizontal, vertical, exit] = [...frames[kind]]
  const half = horizontal!.repeat(reach - 1)
  const spare = 2 * reach - 1 - stringWidth(label)
  const before = Math.floor(spare / 2)
  return [
    `${upperLeft}${half}${horizontal}${half}${upperRight}`,
    `${vertical}${' '.repeat(before)}${label}${' '.repeat(spare - before)}${vertical}`,
    `${lowerLeft}${half}${exit}${half}${lowerRight}`,
  ]
}
