import { percent } from './numbers.ts'
import { cutText, type Screen, shownText } from './screen.ts'
import { padToWidth, textWidth } from './text-width.ts'

export interface MixPart {
  readonly label: string
  /** A count or a share: what counts is its part of the sum. */
  readonly amount: number
}

const widestBar = 40
const widestLabel = 32
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** What a whole is made of, as bars: which roles a policy places, how often as one agent and how often as a group. */
export function actionsMix(title: string, parts: readonly MixPart[], screen: Screen): string {
  const amounts = parts.map(({ amount }) => (Number.isFinite(amount) ? Math.max(0, amount) : 0))
  const sum = amounts.reduce((total, amount) => total + amount, 0)
  const figures = amounts.map((amount) => shownText(percent(amount / sum), screen))
  const figureWidth = Math.max(0, ...figures.map(textWidth))
  const spare = screen.columns - figureWidth - '    '.length
  const labels = parts.map(({ label }) => shownText(label, screen))
  const labelWidth = Math.max(
    0,
    Math.min(widestLabel, Math.floor(spare * 0.6), Math.max(...labels.map(textWidth), 0)),
  )
  const room = Math.max(0, Math.min(widestBar, spare - labelWidth - '  '.length))
  // The longest bar fills the room: the figures tell the share, the bars compare.
  const most = Math.max(...amounts, 0)
  const lines = labels.map((label, index) => {
    const name = padToWidth(cutText(label, labelWidth, screen), labelWidth)
    const drawn = bar(most === 0 ? 0 : amounts[index]! / most, room, screen.ascii)
    const figure = padToWidth(figures[index]!, figureWidth, 'right')
    return `  ${name}  ${figure}  ${screen.paint('cyan', drawn)}`.trimEnd()
  })
  const heading = shownText(title, screen)
  return [
    ...(heading === '' ? [] : [screen.paint('bold', cutText(heading, screen.columns, screen))]),
    ...(parts.length === 0 ? ['  nothing yet'] : lines),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

/** Whatever is not nothing has a bar. */
function bar(share: number, room: number, ascii: boolean): string {
  if (share === 0 || room === 0) return ''
  if (ascii) return '#'.repeat(Math.max(1, Math.round(share * room)))
  const cells = Math.max(1, Math.round(share * room * 8))
  return '█'.repeat(Math.floor(cells / 8)) + eighths[cells % 8]
}
