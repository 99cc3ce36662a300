import { styleText } from 'node:util'
import cliTruncate from 'cli-truncate'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import { asciiDrawing, asciiText, visibleText } from '../../graph/render/visible-text.ts'

/** What a text is made for: how much room there is, which characters can be shown, and whether in colour. */
export interface Screen {
  /** Infinite for a file or a pipe: what goes there is never cut. */
  readonly columns: number
  /** Only the 95 printable ASCII characters. */
  readonly ascii: boolean
  /** Colours a text of ours, in the signs that the screen has. */
  paint(style: Style, text: string): string
}

export type Style = Parameters<typeof styleText>[0]

type Environment = Readonly<Record<string, string | undefined>>

export function screenOf(
  stream: NodeJS.WriteStream = process.stdout,
  env: Environment = process.env,
): Screen {
  const ascii = !showsUnicode(env)
  return {
    columns: stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY,
    ascii,
    // `styleText` honours NO_COLOR and FORCE_COLOR.
    paint: (style, text) => styleText(style, ascii ? asciiDrawing(text) : text, { stream }),
  }
}

/** Without colour, as for a file. */
export function plainScreen(columns: number = Number.POSITIVE_INFINITY, ascii = false): Screen {
  return { columns, ascii, paint: (_, text) => (ascii ? asciiDrawing(text) : text) }
}

/** No locale at all counts as UTF-8: containers often set none. The Linux console has no Braille. */
function showsUnicode(env: Environment): boolean {
  if (env['TERM'] === 'linux') return false
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG']
  return !locale || /utf-?8/i.test(locale)
}

/** A text from outside on one line, in characters that the screen has and that do nothing to it. */
export function shownText(text: string, { ascii }: Pick<Screen, 'ascii'>): string {
  // `visibleText` calls an empty text nameless.
  if (text.trim() === '') return ''
  const visible = visibleText(text)
  return ascii ? asciiText(visible) : visible
}

/** A drawing of ours in the signs that the screen has. */
export function drawn(text: string, { ascii }: Pick<Screen, 'ascii'>): string {
  return ascii ? asciiDrawing(text) : text
}

/** The beginning of a shown text that fits. */
export function cutText(text: string, width: number, { ascii }: Pick<Screen, 'ascii'>): string {
  if (!Number.isFinite(width)) return text
  const truncationCharacter = !ascii ? '…' : width > 3 ? '...' : '.'
  return cliTruncate(text, width, { truncationCharacter })
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

/** Names in a column and what is to be said of each beside it. */
export function factLines(
  facts: readonly (readonly [name: string, text: string])[],
  screen: Screen,
  margin = '',
): string[] {
  const width = Math.max(...facts.map(([name]) => name.length))
  const indent = ' '.repeat(margin.length + width + 2)
  return facts.map(
    ([name, text]) => `${margin}${name.padEnd(width)}  ${wrapText(shownText(text, screen), screen, indent)}`,
  )
}
