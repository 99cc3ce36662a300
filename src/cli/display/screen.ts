import { styleText } from 'node:util'
import { visibleText } from '../../graph/render/picture.ts'
import { cutToWidth } from './text-width.ts'

/** What a text is made for: how much room there is, which characters can be shown, and whether in colour. */
export interface Screen {
  /** Infinite where nobody looks: what goes into a file or another program is never cut. */
  readonly columns: number
  /** Only the 95 printable ASCII characters, for terminals that cannot do better. */
  readonly ascii: boolean
  paint(style: Style, text: string): string
}

export type Style = Parameters<typeof styleText>[0]

type Environment = Readonly<Record<string, string | undefined>>

export function screenOf(
  stream: NodeJS.WriteStream = process.stdout,
  env: Environment = process.env,
): Screen {
  return {
    columns: stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY,
    ascii: !showsUnicode(env),
    // Heeds NO_COLOR and FORCE_COLOR.
    paint: (style, text) => styleText(style, text, { stream }),
  }
}

/** Without colour, as it goes into a file. */
export function plainScreen(columns: number = Number.POSITIVE_INFINITY, ascii = false): Screen {
  return { columns, ascii, paint: (_, text) => text }
}

/**
 * Only a locale that says otherwise counts against Unicode: containers often have none at all, and the terminal in front
 * of them can do it. The console of Linux has no Braille.
 */
function showsUnicode(env: Environment): boolean {
  if (env['TERM'] === 'linux') return false
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG']
  return !locale || /utf-?8/i.test(locale)
}

/** A text from outside on one line, in characters that the screen has and that do nothing to it. */
export function shownText(text: string, { ascii }: Pick<Screen, 'ascii'>): string {
  // Nothing is shown as nothing; `visibleText` would call it nameless.
  if (text.trim() === '') return ''
  const visible = visibleText(text)
  return ascii ? asciiText(visible) : visible
}

/** The beginning of a shown text that fits. */
export function cutText(text: string, width: number, { ascii }: Pick<Screen, 'ascii'>): string {
  return cutToWidth(text, width, ascii ? '...' : '…')
}

const asciiWords = new Map<string, string>([
  ...([
    ['¥', 'CNY '],
    ['€', 'EUR '],
    ['£', 'GBP '],
  ] as const),
  ...([
    ['…', '...'],
    ['–', '-'],
    ['→', '->'],
    ['·', '-'],
    ['×', 'x'],
    ['±', '+-'],
    ['✓', 'v'],
    ['✗', 'x'],
  ] as const),
])

function asciiText(text: string): string {
  return text.replace(
    /[^ -~]/gu,
    (character) => asciiWords.get(character) ?? `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}
