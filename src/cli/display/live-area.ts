import stringWidth from 'string-width'
import { cutText, type Lines, type Screen } from './screen.ts'

const frameMs = 100
/** Without news, running clocks still move. */
const idleFrameMs = 1000

export type LiveArea = ReturnType<typeof liveArea>

/**
 * The last lines of a terminal, painted again and again in place: the only code that moves the cursor. The cursor is not
 * hidden, so there is nothing to restore however the process ends. `read` is asked for the lines whenever they are painted.
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
    // Never keeps the process alive: the work does.
    timer = setTimeout(paint, ms).unref()
  }
  // One write for one frame, so that nothing flickers. The terminal's own line breaking is off meanwhile: a character that
  // it shows wider than we reckon must not push a line onto the next.
  const paint = () => {
    paintedAt = performance.now()
    const before = back()
    const rows = Math.max(1, (stream.rows || 24) - 1)
    // One column stays free: in some terminals the cursor behind a full line is on the next one.
    const width = Math.max(1, screen().columns - 1)
    painted = read(screen())
      .slice(0, rows)
      .map((line) => cutText(line, width))
    const frame = screen().text(painted.map((line) => `${line}\u001b[K`))
    stream.write(`${before}\u001b[?7l${frame}\u001b[?7h\u001b[J`)
    schedule(idleFrameMs)
  }
  /** To the beginning of what is painted. A terminal that became narrower has broken the lines that no longer fit. */
  const back = () => {
    const columns = stream.columns || 80
    const heights = painted.map((line) => Math.max(1, Math.ceil(stringWidth(line) / columns)))
    return painted.length > 0 ? `\r\u001b[${heights.reduce((a, b) => a + b)}A` : ''
  }
  const replace = (lines: Lines) => void stream.write(`${back()}\u001b[J${screen().text(lines)}`)
  /** Someone wrote below what was painted, as a shell does after Ctrl-Z: that stays where it is. */
  const repaint = () => {
    painted = []
    paint()
  }
  /** Writes lines that stay, above the others. */
  const above = (lines: Lines) => {
    replace(lines)
    repaint()
  }
  // Erased first: a terminal remembers which lines it broke, and would join them again when it becomes wider.
  const resized = () => above([])
  stream.on('resize', resized)
  process.on('SIGCONT', repaint)
  paint()
  return {
    above,
    /** There is news: paints soon, and not more often than can be seen. */
    update: () => schedule(Math.max(0, paintedAt + frameMs - performance.now())),
    /** Replaces the lines by others that stay. */
    end(lines: Lines): void {
      clearTimeout(timer)
      stream.off('resize', resized)
      process.off('SIGCONT', repaint)
      replace(lines)
    },
  }
}
