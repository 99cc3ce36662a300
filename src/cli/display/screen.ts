import { styleText } from 'node:util'
import cliTruncate from 'cli-truncate'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import type { AgentGraph } from '../../graph/agent-graph.ts'
import { drawGraph } from '../../graph/render/terminal.ts'
import { asciiDrawing, asciiText, visibleText } from '../../graph/render/visible-text.ts'

/** Where lines are shown: how wide it is, and whether it has colours. */
export interface Screen {
  /** Infinite for a file or a pipe, so that nothing is cut or wrapped there. */
  readonly columns: number
  paint(style: Parameters<typeof styleText>[0], text: string): string
  /** Joins lines into one text. Wraps what is too wide between words; uses ASCII if the terminal shows nothing else. */
  text(lines: Lines): string
}

/** Nested lines; undefined and false are skipped. */
export type Lines = string | Verbatim | false | undefined | readonly Lines[]

/** Text that must not be wrapped, such as a command to copy. */
export interface Verbatim {
  readonly verbatim: string
}

type Environment = Readonly<Record<string, string | undefined>>

export function screenOf(
  stream: NodeJS.WriteStream = process.stdout,
  env: Environment = process.env,
): Screen {
  const shown = showsUnicode(env) ? (line: string) => line : inAscii
  const columns = stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY
  return {
    columns,
    // `styleText` honours NO_COLOR and FORCE_COLOR.
    paint: (style, text) => styleText(style, text, { stream }),
    text: (lines) =>
      [...flattened(lines)]
        .map((line) => (typeof line === 'string' ? wrapLines(shown(line), columns) : shown(line.verbatim)))
        .map((line) => (line.endsWith('\n') ? line : `${line}\n`))
        .join(''),
  }
}

function* flattened(lines: Lines): Generator<string | Verbatim> {
  if (lines === false || lines === undefined) return
  if (typeof lines === 'string' || 'verbatim' in lines) yield lines
  else for (const line of lines) yield* flattened(line)
}

/** Wraps each line that is too wide; the rest of it keeps its indent. */
function wrapLines(text: string, columns: number): string {
  if (!Number.isFinite(columns)) return text
  const wrap = (line: string) => {
    const [indent] = line.match(/^ */)!
    return stringWidth(line) <= columns ? line : indent + wrapText(line.trimStart(), { columns }, indent)
  }
  return text.split('\n').map(wrap).join('\n')
}

/** No locale counts as UTF-8, because containers often set none. The Linux console lacks our block characters. */
function showsUnicode(env: Environment): boolean {
  if (env['TERM'] === 'linux') return false
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG']
  return !locale || /utf-?8/i.test(locale)
}

/** Each drawing character becomes one ASCII character, so drawings stay aligned. */
function inAscii(line: string): string {
  return line.replace(/[^\p{ASCII}]/gu, (sign) => asciiText(asciiDrawing(sign)))
}

/** Untrusted text on one line, with control characters made harmless. */
export function shownText(text: string): string {
  // `visibleText` turns an empty text into "nameless".
  return text.trim() === '' ? '' : visibleText(text)
}

/** As much of the text as fits, with an ellipsis. */
export function cutText(text: string, width: number): string {
  return Number.isFinite(width) ? cliTruncate(text, width) : text
}

export function padText(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const spaces = ' '.repeat(Math.max(0, width - stringWidth(text)))
  return side === 'left' ? text + spaces : spaces + text
}

/** Wraps between words; later lines start with the indent. A long word, such as a path, stays whole so it can be copied. */
export function wrapText(text: string, { columns }: Pick<Screen, 'columns'>, indent = ''): string {
  if (!Number.isFinite(columns)) return text
  const kept = text.replace(beforeUnit, heldTogether)
  return wrapAnsi(kept, Math.max(20, columns - indent.length))
    .replaceAll(heldTogether, ' ')
    .replaceAll('\n', `\n${indent}`)
}

/** The space in `62.5 %`, `12.3 k` and `1 m 23 s`: a number stays with its unit. */
const beforeUnit = /(?<=\d) (?=(?:%|[kMGT]|[smhd]|ms)(?!\w))/g
/** A private character. If untrusted text has one, it becomes a space. */
const heldTogether = '\ue000'

/** Names in one column, their texts in the next. Skips facts without a text. */
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
