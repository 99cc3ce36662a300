import stringWidth from 'string-width'
import { LiveArea, liveColumns } from './live-area.ts'
import { duration, rate } from './numbers.ts'
import type { ProgressState } from './progress.ts'
import { cutText, type Screen, shownText, wrapText } from './screen.ts'
import { printable } from './terminal-text.ts'

/** Shows one piece of work after the other. Between `start` and `end` it can ask for the state at any time. */
export interface ProgressFace {
  start(read: () => ProgressState): void
  update(): void
  note(text: string): void
  end(summary?: string): void
}

const widestBar = 40
const narrowestBar = 8

/** A bar with its figures, painted in place, and the fields below it. */
export function liveFace(stream: NodeJS.WriteStream, screen: () => Screen): ProgressFace {
  let area: LiveArea | undefined
  let read: () => ProgressState
  return {
    start(given) {
      read = given
      area = new LiveArea(stream, (now) => [barLine(read(), now), ...fieldLines(read(), now)], screen)
    },
    update: () => area?.update(),
    note(text) {
      if (area === undefined) stream.write(screen().text(noteLines(text, screen())))
      else area.above(noteLines(text, screen()))
    },
    end(summary) {
      const state = read()
      const mark = isDone(state) ? screen().paint('green', '✓') : screen().paint('yellow', '■')
      const { label, done, total, elapsedMs } = state
      const count = `${isDone(state) ? '' : 'stopped at '}${done}/${total} in ${duration(elapsedMs)}`
      const line = cutText(joined([label, count], '  '), liveColumns(screen()) - 2)
      // Never painted over, so a summary is not cut: it may hold a command or a path to copy.
      const rest = summary?.split('\n').map((text) => `  ${shownText(text)}`.trimEnd())
      area?.end([`${mark} ${line}`, ...(rest ?? fieldLines(state, screen()))])
      area = undefined
    },
  }
}

/** The bar takes the room that is left; where there is too little, it goes. */
function barLine(state: ProgressState, screen: Screen): string {
  const room = liveColumns(screen)
  const label = cutText(shownText(state.label), Math.max(8, Math.floor(room / 3)))
  const total = String(state.total)
  const count = `${String(state.done).padStart(total.length)}/${total}`
  // The rate and the time left come and go; the bar keeps its length.
  const figures = [
    count,
    percentText(state).padStart(5),
    rateText(state).padStart(7),
    leftText(state).padEnd(14),
  ]
  const name = label === '' ? [] : [label]
  const length = Math.min(widestBar, room - stringWidth([...name, ...figures].join('  ')) - 2)
  const bar = length < narrowestBar ? [] : [drawBar(shareDone(state), length, screen)]
  return [...name, ...bar, ...figures].join('  ').trimEnd()
}

/** A heavy line upon a light one, in steps of half a character: it reads without colour too. */
function drawBar(share: number, length: number, screen: Screen): string {
  const halves = Math.floor(share * length * 2)
  const heavy = '━'.repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? '╸' : '')
  const light = '─'.repeat(length - heavy.length)
  return `${screen.paint(share === 1 ? 'green' : 'cyan', heavy)}${screen.paint('dim', light)}`
}

function fieldLines(state: ProgressState, screen: Screen): string[] {
  const fields = fieldTexts(state).join(' · ')
  if (fields === '') return []
  return `  ${wrapText(fields, { columns: liveColumns(screen) }, '  ')}`.split('\n')
}

const longestSilenceMs = 30_000

/** A few full lines: after the first item, at every quarter, and after half a minute of silence. */
export function plainFace(stream: NodeJS.WriteStream, screen: () => Screen): ProgressFace {
  let read: () => ProgressState
  let first: ProgressState
  let told: ProgressState
  let timer: NodeJS.Timeout | undefined
  const write = ({ label }: ProgressState, parts: readonly string[]) =>
    stream.write(screen().text([joined([label, joined(parts, ', ')], ': ')]))
  const tell = () => {
    told = read()
    const count = `${told.done}/${told.total}`
    write(told, [count, percentText(told), rateText(told), leftText(told), ...fieldTexts(told)])
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
    note: (text) => void stream.write(screen().text(noteLines(text, screen()))),
    end(summary) {
      clearInterval(timer)
      const state = read()
      const { done, total, elapsedMs } = state
      const count = `${isDone(state) ? 'done' : 'stopped'}, ${done}/${total} in ${duration(elapsedMs)}`
      // The last quarter has told the fields already.
      const fields = told !== first && told.done === done ? [] : fieldTexts(state)
      write(state, [count, ...(summary?.split('\n') ?? fields)])
    },
  }
}

const pauseMs = 1000

/** One JSON object per line, for programs: at most one update a second. */
export function jsonFace(stream: NodeJS.WriteStream): ProgressFace {
  let read: () => ProgressState
  let toldAt: number
  const tell = (type: string, facts: object) =>
    void stream.write(`${printable(JSON.stringify({ type: `progress-${type}`, ...facts }))}\n`)
  return {
    start(given) {
      read = given
      toldAt = Number.NEGATIVE_INFINITY
      tell('start', figures(read()))
    },
    update() {
      if (performance.now() < toldAt + pauseMs) return
      toldAt = performance.now()
      tell('update', figures(read()))
    },
    note: (text) => tell('note', { text }),
    end: (summary) => tell('end', { ...figures(read()), summary }),
  }
}

/** What is not known yet is left out. */
function figures({ label, total, done, elapsedMs, perSecond, msLeft, fields }: ProgressState): object {
  return {
    label,
    done,
    total,
    elapsedSeconds: Number((elapsedMs / 1000).toFixed(3)),
    perSecond: perSecond && Number(perSecond.toPrecision(4)),
    secondsLeft: msLeft && Number((msLeft / 1000).toFixed(1)),
    fields: Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value])),
  }
}

function noteLines(text: string, screen: Screen): string[] {
  return text.split('\n').map((line) => wrapText(shownText(line), screen))
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

/** From 0 to 1, whatever was counted. */
function shareDone({ done, total }: ProgressState): number {
  return total > 0 ? Math.min(1, Math.max(0, done / total || 0)) : 1
}

function quarterOf(state: ProgressState): number {
  return Math.floor(shareDone(state) * 4)
}

/** Rounded down: 100 % is when all is done. */
function percentText(state: ProgressState): string {
  return `${Math.floor(shareDone(state) * 100)} %`
}

function fieldTexts({ fields }: ProgressState): string[] {
  return Object.values(fields)
    .map(({ text }) => shownText(text))
    .filter((text) => text !== '')
}

function rateText({ perSecond }: ProgressState): string {
  return perSecond === undefined ? '' : rate(perSecond)
}

function leftText(state: ProgressState): string {
  if (state.msLeft === undefined || isDone(state)) return ''
  // An estimate: tenths of seconds would only flicker.
  const seconds = Math.max(1, Math.round(state.msLeft / 1000))
  return `${seconds < 60 ? `${seconds} s` : duration(seconds * 1000)} left`
}
