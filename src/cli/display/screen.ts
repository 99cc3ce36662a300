import { styleText } from 'node:util'
import cliTruncate from 'cli-truncate'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import type { AgentGraph } from '../../graph/agent-graph.ts'
import { drawGraph } from '../../graph/render/terminal.ts'
import { asciiDrawing, asciiText, visibleText } from '../../graph/render/visible-text.ts'

/** What lines are made for: how much room there is, and whether in colour. */
export interface Screen {
  /** Infinite for a file or a pipe: what goes there is never cut. */
  readonly columns: number
  paint(style: Parameters<typeof styleText>[0], text: string): string
  /** Lines as one text, in ASCII where the terminal has nothing else. */
  text(lines: Lines): string
}

/** Lines within lines; what is undefined or false is left out. */
export type Lines = string | false | undefined | readonly Lines[]

type Environment = Readonly<Record<string, string | undefined>>

export function screenOf(
  stream: NodeJS.WriteStream = process.stdout,
  env: Environment = process.env,
): Screen {
  const isUnicode = showsUnicode(env)
  return {
    columns: stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY,
    // `styleText` honours NO_COLOR and FORCE_COLOR.
    paint: (style, text) => styleText(style, text, { stream }),
    text: (lines) => flat(lines, isUnicode ? (line) => line : inAscii),
  }
}

function flat(lines: Lines, shown: (line: string) => string): string {
  if (typeof lines === 'string') return `${shown(lines)}${lines.endsWith('\n') ? '' : '\n'}`
  return lines ? lines.map((line) => flat(line, shown)).join('') : ''
}

/** No locale at all counts as UTF-8: containers often set none. The Linux console has no Braille. */
function showsUnicode(env: Environment): boolean {
  if (env['TERM'] === 'linux') return false
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG']
  return !locale || /utf-?8/i.test(locale)
}

/** The signs of our drawings become one character each, so that they stay aligned. */
function inAscii(line: string): string {
  return line.replace(/[^\p{ASCII}]/gu, (sign) => asciiText(asciiDrawing(sign)))
}

/** A text from outside on one line, without anything that could drive the terminal. */
export function shownText(text: string): string {
  // `visibleText` calls an empty text nameless.
  return text.trim() === '' ? '' : visibleText(text)
}

/** The beginning of a shown text that fits. */
export function cutText(text: string, width: number): string {
  return Number.isFinite(width) ? cliTruncate(text, width) : text
}

export function padText(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const spaces = ' '.repeat(Math.max(0, width - stringWidth(text)))
  return side === 'left' ? text + spaces : spaces + text
}

/** Breaks a text between words; later lines begin with the indent. A word that is too long stays whole, to be copied. */
export function wrapText(text: string, { columns }: Pick<Screen, 'columns'>, indent = ''): string {
  if (!Number.isFinite(columns)) return text
  return wrapAnsi(text, Math.max(20, columns - indent.length)).replaceAll('\n', `\n${indent}`)
}

/** Names in a column, and the text about each beside it. A fact without a text is left out. */
export function factLines(
  facts: readonly (readonly [name: string, text: string])[],
  screen: Screen,
  margin = '',
): string[] {
  const width = Math.max(...facts.map(([name]) => name.length))
  const indent = ' '.repeat(margin.length + width + 2)
  return facts
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `${margin}${name.padEnd(width)}  ${wrapText(shownText(text), screen, indent)}`)
}

const widestDrawing = 100

export function graphLines(graph: AgentGraph, { columns }: Screen): string[] {
  return drawGraph(graph, { columns: Math.min(columns, widestDrawing) })
    .trimEnd()
    .split('\n')
}
