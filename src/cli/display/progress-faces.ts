import stringWidth from 'string-width'
import { type LiveArea, liveArea } from './live-area.ts'
import { duration, rate } from './numbers.ts'
import type { ProgressState } from './progress.ts'
import { type Screen, shownText, wrapText } from './screen.ts'
import { printable } from './terminal-text.ts'

/** Shows one piece of work at a time. Between `start` and `end` it may read the state at any time. */
export interface ProgressFace {
  start(read: () => ProgressState): void
  update(): void
  note(text: string, indent: string): void
  end(summary?: string): void
}

/** A bar with figures, painted in place, and fields below it. */
export function liveFace(stream: NodeJS.WriteStream, screen: () => Screen): ProgressFace {
  let area: LiveArea | undefined
  let read: () => ProgressState
  const fieldLines = (state: ProgressState, now: Screen) => {
    const fields = fieldTexts(state).join(' · ')
    return fields === '' ? [] : `  ${wrapText(fields, now, '  ')}`.split('\n')
  }
  return {
    start(given) {
      read = given
      area = liveArea(stream, (now) => [...barLines(read(), now), ...fieldLines(read(), now)], screen)
    },
    update: () => area?.update(),
    note(text, indent) {
      const lines = noteLines(text, screen(), indent)
      if (area === undefined) stream.write(screen().text(lines))
      else area.above(lines)
    },
    end(summary) {
      const state = read()
      const mark = isDone(state) ? screen().paint('green', '✓') : screen().paint('yellow', '■')
      const line = joined(
        [state.label, isDone(state) ? countText(state) : `stopped at ${countText(state)}`],
        '  ',
      )
      // Permanent lines are not cut, because a summary may hold a command or a path to copy.
      const rest = summary?.split('\n').map((text) => `  ${shownText(text)}`.trimEnd())
      area?.end([`${mark} ${line}`, ...(rest ?? fieldLines(state, screen()))])
      area = undefined
    },
  }
}

/** A heavy line over a light one, in half-character steps, so it reads without colour, too. */
function barLines(state: ProgressState, screen: Screen): string[] {
  const share = shareDone(state)
  const length = Math.max(8, Math.min(40, screen.columns - 60))
  const halves = Math.floor(share * length * 2)
  const heavy = '━'.repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? '╸' : '')
  const light = '─'.repeat(length - heavy.length)
  const bar = `${screen.paint(share === 1 ? 'green' : 'cyan', heavy)}${screen.paint('dim', light)}`
  const text = joined([state.label, ...figures(state)], '  ')
  // Never cut a figure: those that do not fit beside the bar go below it.
  if (length + 2 + stringWidth(text) < screen.columns) return [`${bar}  ${text}`]
  return [bar, ...`  ${wrapText(text, screen, '  ')}`.split('\n')]
}

const longestSilenceMs = 30_000

/** A few lines: after the first item, at every quarter, and after half a minute of silence. */
export function plainFace(stream: NodeJS.WriteStream, screen: () => Screen): ProgressFace {
  let read: () => ProgressState
  let first: ProgressState
  let told: ProgressState
  let timer: NodeJS.Timeout | undefined
  const quarterOf = (state: ProgressState) => Math.floor(shareDone(state) * 4)
  const write = ({ label }: ProgressState, parts: readonly string[]) =>
    stream.write(screen().text([joined([label, joined(parts, ', ')], ': ')]))
  const tell = () => {
    told = read()
    write(told, [...figures(told), ...fieldTexts(told)])
    timer?.refresh()
  }
  return {
    start(given) {
      read = given
      first = told = read()
      timer = setInterval(tell, longestSilenceMs).unref()
    },
    update() {
      const isFirst = told === first && read().done > first.done
      if (isFirst || quarterOf(read()) > quarterOf(told)) tell()
    },
    note: (text, indent) => void stream.write(screen().text(noteLines(text, screen(), indent))),
    end(summary) {
      clearInterval(timer)
      const state = read()
      // The last quarter has already shown the fields.
      const fields = told !== first && told.done === state.done ? [] : fieldTexts(state)
      write(state, [
        isDone(state) ? 'done' : 'stopped',
        countText(state),
        ...(summary?.split('\n') ?? fields),
      ])
    },
  }
}

const pauseMs = 1000

/** JSON lines for programs, at most one update per second. Unknown values are left out. */
export function jsonFace(stream: NodeJS.WriteStream): ProgressFace {
  let read: () => ProgressState
  let toldAt: number
  const write = (event: object) => void stream.write(`${printable(JSON.stringify(event))}\n`)
  const tell = (type: string, summary?: string) => {
    const { elapsedMs, perSecond, msLeft, fields, ...work } = read()
    const values = Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value]))
    write({
      type: `progress-${type}`,
      ...work,
      elapsedSeconds: Number((elapsedMs / 1000).toFixed(3)),
      perSecond: perSecond && Number(perSecond.toPrecision(4)),
      secondsLeft: msLeft && Number((msLeft / 1000).toFixed(1)),
      fields: values,
      summary,
    })
  }
  return {
    start(given) {
      read = given
      toldAt = Number.NEGATIVE_INFINITY
      tell('start')
    },
    update() {
      if (performance.now() < toldAt + pauseMs) return
      toldAt = performance.now()
      tell('update')
    },
    note: (text) => write({ type: 'progress-note', text }),
    end: (summary) => tell('end', summary),
  }
}

function noteLines(text: string, screen: Screen, indent: string): string[] {
  return text
    .split('\n')
    .map(shownText)
    .map((line) => line.slice(0, indent.length) + wrapText(line.slice(indent.length), screen, indent))
}

function joined(parts: readonly string[], separator: string): string {
  return parts
    .map(shownText)
    .filter((part) => part !== '')
    .join(separator)
}

function isDone({ done, total }: ProgressState): boolean {
  return done >= total
}

function countText({ done, total, elapsedMs }: ProgressState): string {
  return `${done}/${total} in ${duration(elapsedMs)}`
}

/** From 0 to 1, even for odd counts. */
function shareDone({ done, total }: ProgressState): number {
  return total > 0 ? Math.min(1, Math.max(0, done / total || 0)) : 1
}

/** Count, share, rate and time left, as far as known. */
function figures(state: ProgressState): string[] {
  const { done, total, perSecond, msLeft } = state
  // Rounded down, so that 100 % means done.
  const known = [`${done}/${total}`, `${Math.floor(shareDone(state) * 100)} %`]
  if (perSecond !== undefined) known.push(rate(perSecond))
  // Whole seconds: tenths of an estimate would only flicker.
  const seconds = Math.max(1, Math.round((msLeft ?? 0) / 1000))
  if (msLeft !== undefined && !isDone(state))
    known.push(`${seconds < 60 ? `${seconds} s` : duration(seconds * 1000)} left`)
  return known
}

function fieldTexts({ fields }: ProgressState): string[] {
  return Object.values(fields)
    .map(({ text }) => shownText(text))
    .filter((text) => text !== '')
}
