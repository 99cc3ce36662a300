import stringWidth from 'string-width'
import { percent } from './numbers.ts'
import { cutText, drawn, padText, type Screen, shownText } from './screen.ts'

/** One part of a whole, earlier and now. Amounts are counts or shares. */
export interface SharePart {
  readonly label: string
  readonly before: number
  readonly now: number
}

const widestBar = 40
const narrowestLabel = 4
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** What a whole was and is made of, as figures and bars. Where it is narrow the bar gives way, then the label. */
export function shareBars(title: string, parts: readonly SharePart[], screen: Screen): string {
  const before = percents(parts.map((part) => part.before))
  const now = percents(parts.map((part) => part.now))
  const figures = parts.map((_, index) => `${before[index]!.padStart(7)} → ${now[index]!.padStart(7)}`)
  const labels = parts.map(({ label }) => shownText(label, screen))
  const room = screen.columns - Math.max(0, ...figures.map((figure) => figure.length)) - '    '.length
  const longest = Math.max(0, ...labels.map((label) => stringWidth(label)))
  const labelWidth = Math.max(narrowestLabel, Math.min(room, longest))
  const barWidth = Math.min(widestBar, room - labelWidth - '  '.length)
  // The longest bar fills the room: the figures tell the share, the bars compare.
  const most = Math.max(...parts.map((part) => part.now))
  const lines = parts.map((part, index) => {
    const label = padText(cutText(labels[index]!, labelWidth, screen), labelWidth)
    const bar = drawBar(most > 0 ? part.now / most : 0, barWidth)
    const line = `  ${label}  ${drawn(figures[index]!, screen)}`
    return bar === '' ? line : `${line}  ${screen.paint('cyan', bar)}`
  })
  const heading = screen.paint('bold', cutText(drawn(title, screen), screen.columns, screen))
  return [heading, ...lines].map((line) => `${line}\n`).join('')
}

function percents(amounts: readonly number[]): string[] {
  const sum = amounts.reduce((total, amount) => total + amount, 0)
  return amounts.map((amount) => percent(amount / sum))
}

/** Whatever is not nothing has a bar. */
function drawBar(share: number, width: number): string {
  if (share === 0 || width <= 0) return ''
  const cells = Math.max(1, Math.round(share * width * 8))
  return '█'.repeat(Math.floor(cells / 8)) + eighths[cells % 8]
}
