import stringWidth from 'string-width'
import { LiveArea, liveColumns } from './live-area.ts'
import { duration } from './numbers.ts'
import {
  fieldTexts,
  leftText,
  type ProgressFace,
  type ProgressState,
  rateText,
  shareDone,
  wholePercent,
} from './progress-state.ts'
import { cutText, drawn, type Screen, shownText } from './screen.ts'

const widestBar = 40
const narrowestBar = 8

/** A bar with its figures, painted in place, and the fields below it. */
export function liveProgress(
  stream: NodeJS.WriteStream,
  read: () => ProgressState,
  screen: () => Screen,
): ProgressFace {
  const area = new LiveArea(stream, (now) => [barLine(read(), now), ...fieldLines(read(), now)], screen)
  return {
    update: () => area.update(),
    above: (text) => area.above(text),
    end: (summary) =>
      area.end(
        endLines(read(), summary, screen())
          .map((line) => `${line}\n`)
          .join(''),
      ),
  }
}

/** Where it is narrow, the rate goes first, then the bar, then the time left. */
function barLine(state: ProgressState, screen: Screen): string {
  const room = liveColumns(screen)
  const label = cutText(shownText(state.label, screen), Math.max(8, Math.floor(room / 3)), screen)
  const total = String(state.total)
  const count = `${String(state.done).padStart(total.length)}/${total}`
  const whole = wholePercent(state).padStart('100 %'.length)
  const left = leftText(state)
  const spare = (parts: readonly string[]) => room - stringWidth([label, ...parts].join('  '))
  const withRate = [count, whole, rateText(state).padStart(7), left]
  const parts = [withRate, [count, whole, left], [count, whole]].find(
    (candidate, index) => spare(candidate) >= (index === 0 ? narrowestBar + 2 : 0),
  ) ?? [count, whole]
  // The time left comes and goes; the bar keeps its length.
  const kept = parts.includes(left) ? Math.max(0, '12 m 34 s left'.length - left.length) : 0
  const length = Math.min(widestBar, Math.max(spare(parts) - 2 - kept, narrowestBar))
  const bar = spare(parts) - 2 < narrowestBar ? [] : [drawBar(shareDone(state), length, screen)]
  return [...(label === '' ? [] : [label]), ...bar, ...parts].join('  ').trimEnd()
}

/** A heavy line upon a light one, in steps of half a character: it reads without colour too. */
function drawBar(share: number, length: number, screen: Screen): string {
  const halves = Math.floor(share * length * 2)
  const heavy = '━'.repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? '╸' : '')
  const light = '─'.repeat(length - heavy.length)
  return `${screen.paint(share === 1 ? 'green' : 'cyan', heavy)}${screen.paint('dim', light)}`
}

/** Side by side, in as many lines as they need. */
function fieldLines(state: ProgressState, screen: Screen): string[] {
  const room = liveColumns(screen) - 2
  const lines: string[] = []
  for (const field of fieldTexts(state).map((text) => shownText(text, screen))) {
    if (field === '') continue
    const joined = `${lines.at(-1)} · ${field}`
    if (lines.length > 0 && stringWidth(joined) <= room) lines[lines.length - 1] = joined
    else lines.push(cutText(field, room, screen))
  }
  return lines.map((line) => `  ${drawn(line, screen)}`)
}

/** Never painted over, so a summary is not cut: it may hold a command or a path to copy. */
function endLines(state: ProgressState, summary: string | undefined, screen: Screen): string[] {
  const { done, total, elapsedMs } = state
  const isDone = done >= total
  const mark = isDone ? screen.paint('green', '✓') : screen.paint('yellow', '■')
  const count = `${isDone ? '' : 'stopped at '}${done}/${total} in ${duration(elapsedMs)}`
  const line = [shownText(state.label, screen), count].filter((part) => part !== '').join('  ')
  const rest = summary?.split('\n').map((text) => `  ${shownText(text, screen)}`.trimEnd())
  return [`${mark} ${cutText(line, liveColumns(screen) - 2, screen)}`, ...(rest ?? fieldLines(state, screen))]
}
