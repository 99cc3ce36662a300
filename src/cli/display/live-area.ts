import stringWidth from 'string-width'
import { cutText, type Lines, type Screen } from './screen.ts'

const frameMs = 100
/** Without updates, clocks still advance. */
const idleFrameMs = 1000

export type LiveArea = ReturnType<typeof liveArea>

/**
 * The last lines of a terminal, repainted in place; no other code moves the cursor. The cursor stays visible, so nothing
 * needs restoring however the process ends. `read` supplies the lines for each frame.
 */
export function liveArea(
  stream: NodeJS.WriteStream,
  read: (screen: Screen) => readonly string[],
  screen: () => Screen,
) {
  let painted: readonly string[] = []
  let paintedAt = 0
  let timer: NodeJS.Timeout | undefined

  const schedule = (ms: number) => {
    clearTimeout(timer)
    // The work keeps the process alive, not the display.
    timer = setTimeout(paint, ms).unref()
  }
  // One write per frame avoids flicker. The terminal's line wrapping is off meanwhile: a character that it shows wider than
  // we measured must not push text onto the next line.
  const paint = () => {
    paintedAt = performance.now()
    const before = back()
    const rows = Math.max(1, (stream.rows || 24) - 1)
    // One column stays free, because after a full line some terminals put the cursor on the next one.
    const width = Math.max(1, screen().columns - 1)
    painted = read(screen())
      .slice(0, rows)
      .map((line) => cutText(line, width))
    const frame = screen().text(painted.map((line) => `${line}\u001b[K`))
    stream.write(`${before}\u001b[?7l${frame}\u001b[?7h\u001b[J`)
    schedule(idleFrameMs)
  }
  /** Moves to the start of the painted lines, which take more rows if the terminal became narrower. */
  const back = () => {
    const columns = stream.columns || 80
    const heights = painted.map((line) => Math.max(1, Math.ceil(stringWidth(line) / columns)))
    return painted.length > 0 ? `\r\u001b[${heights.reduce((a, b) => a + b)}A` : ''
  }
  const replace = (lines: Lines) => void stream.write(`${back()}\u001b[J${screen().text(lines)}`)
  /** Paints below whatever was written since, such as the shell's lines after Ctrl-Z. */
  const repaint = () => {
    painted = []
    paint()
  }
  /** Writes permanent lines above the painted ones. */
  const above = (lines: Lines) => {
    replace(lines)
    repaint()
  }
  // Erases first, because a terminal remembers which lines it wrapped and joins them again when it becomes wider.
  const resized = () => above([])
  stream.on('resize', resized)
  process.on('SIGCONT', repaint)
  paint()
  return {
    above,
    /** Repaints soon, but not faster than the eye can see. */
    update: () => schedule(Math.max(0, paintedAt + frameMs - performance.now())),
    /** Replaces the painted lines with permanent ones. */
    end(lines: Lines): void {
      clearTimeout(timer)
      stream.off('resize', resized)
      process.off('SIGCONT', repaint)
      replace(lines)
    },
  }
}
