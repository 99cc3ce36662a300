import { printable } from '../terminal-text.ts'
import { LiveArea, type PaintedLine } from './live-area.ts'
import { duration } from './numbers.ts'
import {
  fieldTexts,
  leftText,
  type ProgressClock,
  type ProgressFace,
  type ProgressState,
  rateText,
  shareDone,
  wholePercent,
} from './progress-state.ts'
import { cutText, type Screen, shownText } from './screen.ts'
import { textWidth } from './text-width.ts'

const frameMs = 100
/** Without news the clock still runs. */
const idleFrameMs = 1000
const widestBar = 40
const narrowestBar = 8
const mostFieldLines = 2

/** A bar with its figures, painted in place, and the fields below it. */
export class LiveProgress implements ProgressFace {
  readonly #stream: NodeJS.WriteStream
  readonly #clock: ProgressClock
  readonly #area: LiveArea
  readonly #screen: () => Screen
  #read: (() => ProgressState) | undefined
  #paintedAt = 0
  #callOff: (() => void) | undefined

  constructor(stream: NodeJS.WriteStream, clock: ProgressClock, screen: () => Screen) {
    this.#stream = stream
    this.#clock = clock
    this.#area = new LiveArea(stream)
    this.#screen = screen
  }

  start(read: () => ProgressState): void {
    this.#read = read
    this.#stream.on('resize', this.#paint)
    this.#paint()
  }

  update(): void {
    this.#paintIn(Math.max(0, this.#paintedAt + frameMs - this.#clock.now()))
  }

  note(text: string): void {
    this.#area.above(`${printable(text)}\n`)
  }

  end(state: ProgressState, summary: string | undefined): void {
    this.#callOff?.()
    this.#stream.off('resize', this.#paint)
    this.#area.clear()
    this.#stream.write(
      endLines(state, summary, this.#screen())
        .map((line) => `${line}\n`)
        .join(''),
    )
  }

  #paintIn(ms: number): void {
    this.#callOff?.()
    if (ms === 0) this.#paint()
    else this.#callOff = this.#clock.alarm(ms, this.#paint)
  }

  readonly #paint = (): void => {
    this.#paintedAt = this.#clock.now()
    const rows = Math.max(1, (this.#stream.rows || 24) - 1)
    this.#area.paint(liveLines(this.#read!(), this.#screen()).slice(0, rows))
    this.#paintIn(idleFrameMs)
  }
}

/** One column stays free: in some terminals the cursor that stands behind a full line is on the next one. */
function roomOf({ columns }: Screen): number {
  return Math.max(1, columns - 1)
}

function liveLines(state: ProgressState, screen: Screen): PaintedLine[] {
  return [barLine(state, screen), ...fieldLines(fieldTexts(state), '  ', screen).slice(0, mostFieldLines)]
}

/** Where it is narrow, the rate goes first, then the bar, then the time left. */
function barLine(state: ProgressState, screen: Screen): PaintedLine {
  const room = roomOf(screen)
  const label = cutText(shownText(state.label, screen), Math.max(8, Math.floor(room / 3)), screen)
  const total = String(state.total)
  const count = `${String(state.done).padStart(total.length)}/${total}`
  const whole = wholePercent(state).padStart('100 %'.length)
  const rate = rateText(state).padStart(7)
  const left = state.done >= state.total ? '' : leftText(state)
  const candidates = [
    { bar: narrowestBar, parts: [count, whole, rate, left] },
    { bar: narrowestBar, parts: [count, whole, left] },
    { bar: 0, parts: [count, whole, left] },
    { bar: 0, parts: [count, whole] },
  ]
  const width = (parts: readonly string[]) => textWidth([label, ...parts].join('  '))
  const { bar, parts } =
    candidates.find((candidate) => width(candidate.parts) + candidate.bar + 2 <= room) ?? candidates.at(-1)!
  const behind = parts.join('  ').trimEnd()
  if (bar === 0) {
    const text = cutText(`${label}  ${behind}`.trimStart(), room, screen)
    return { text, width: textWidth(text) }
  }
  // The time left comes and goes; the bar keeps its length.
  const reserved = Math.max(
    textWidth(behind),
    Math.min(textWidth(behind) + 14 - textWidth(left), room - narrowestBar),
  )
  const before = label === '' ? '' : `${label}  `
  const length = Math.max(narrowestBar, Math.min(widestBar, room - textWidth(before) - reserved - 2))
  return {
    text: `${before}${drawBar(shareDone(state), length, screen)}  ${behind}`,
    width: textWidth(before) + length + 2 + textWidth(behind),
  }
}

function drawBar(share: number, length: number, screen: Screen): string {
  if (screen.ascii) {
    const full = Math.floor(share * (length - 2))
    return `[${'#'.repeat(full)}${'.'.repeat(length - 2 - full)}]`
  }
  // A heavy line upon a light one, in steps of half a character: it reads without colour too.
  const halves = Math.floor(share * length * 2)
  const drawn = '━'.repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? '╸' : '')
  return `${screen.paint(share === 1 ? 'green' : 'cyan', drawn)}${screen.paint('dim', '─'.repeat(length - drawn.length))}`
}

/** Fields side by side, in as many lines as they need. */
function fieldLines(fields: readonly string[], indent: string, screen: Screen): PaintedLine[] {
  const room = roomOf(screen) - indent.length
  const separator = screen.ascii ? ' | ' : ' · '
  const lines: string[] = []
  for (const field of fields.map((text) => shownText(text, screen)).filter((text) => text !== '')) {
    const joined = lines.length === 0 ? field : `${lines.at(-1)}${separator}${field}`
    if (lines.length > 0 && textWidth(joined) <= room) lines[lines.length - 1] = joined
    else lines.push(cutText(field, room, screen))
  }
  return lines.map((line) => ({ text: `${indent}${line}`, width: indent.length + textWidth(line) }))
}

/** Never painted over, so a summary is not cut: it may hold a command or a path to copy. */
function endLines(state: ProgressState, summary: string | undefined, screen: Screen): string[] {
  const { done, total, elapsedMs } = state
  const isDone = done >= total
  const mark = isDone ? (screen.ascii ? 'v' : '✓') : screen.ascii ? '!' : '■'
  const label = shownText(state.label, screen)
  const count = `${isDone ? '' : 'stopped at '}${done}/${total} in ${duration(elapsedMs)}`
  const line = cutText([label, count].filter((part) => part !== '').join('  '), roomOf(screen) - 2, screen)
  const rest =
    summary === undefined
      ? fieldLines(fieldTexts(state), '  ', screen).map(({ text }) => text)
      : summary.split('\n').map((text) => `  ${shownText(text, screen)}`.trimEnd())
  return [`${screen.paint(isDone ? 'green' : 'yellow', mark)} ${line}`, ...rest]
}
