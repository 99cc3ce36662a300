import stringWidth from 'string-width'
import { cutText, type Screen } from './screen.ts'

const frameMs = 100
/** Without news, running clocks still move. */
const idleFrameMs = 1000

/**
 * The last lines of a terminal, painted again and again in place: the only code that moves the cursor. The cursor is not
 * hidden, so there is nothing to restore however the process ends.
 */
export class LiveArea {
  readonly #stream: NodeJS.WriteStream
  readonly #screen: () => Screen
  readonly #lines: (screen: Screen, rows: number) => readonly string[]
  #painted: readonly string[] = []
  #paintedAt = 0
  #timer: NodeJS.Timeout | undefined

  /** `lines` is asked for the lines whenever they are painted, `rows` of them at most. */
  constructor(
    stream: NodeJS.WriteStream,
    lines: (screen: Screen, rows: number) => readonly string[],
    screen: () => Screen,
  ) {
    this.#stream = stream
    this.#lines = lines
    this.#screen = screen
    stream.on('resize', this.#resized)
    process.on('SIGCONT', this.#repaint)
    this.#paint()
  }

  /** There is news: paints soon, and not more often than can be seen. */
  update(): void {
    this.#schedule(Math.max(0, this.#paintedAt + frameMs - performance.now()))
  }

  /** Writes lines that stay, above the others. */
  above(lines: readonly string[]): void {
    this.#replace(lines)
    this.#repaint()
  }

  /** Replaces the lines by others that stay. */
  end(lines: readonly string[]): void {
    clearTimeout(this.#timer)
    this.#stream.off('resize', this.#resized)
    process.off('SIGCONT', this.#repaint)
    this.#replace(lines)
  }

  #replace(lines: readonly string[]): void {
    this.#stream.write(`${this.#back()}\u001b[J${this.#screen().text(lines)}`)
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer)
    // Never keeps the process alive: the work does.
    this.#timer = setTimeout(this.#paint, ms).unref()
  }

  /**
   * One write for one frame, so that nothing flickers. The terminal's own line breaking is off meanwhile: a character that
   * it shows wider than we reckon must not push a line onto the next.
   */
  readonly #paint = (): void => {
    this.#paintedAt = performance.now()
    const screen = this.#screen()
    const rows = Math.max(1, (this.#stream.rows || 24) - 1)
    const lines = this.#lines(screen, rows)
      .slice(0, rows)
      .map((line) => cutText(line, liveColumns(screen)))
    const frame = screen.text(lines.map((line) => `${line}\u001b[K`))
    this.#stream.write(`${this.#back()}\u001b[?7l${frame}\u001b[?7h\u001b[J`)
    this.#painted = lines
    this.#schedule(idleFrameMs)
  }

  /** Erased first: a terminal remembers which lines it broke, and would join them again when it becomes wider. */
  readonly #resized = (): void => this.above([])

  /** Someone wrote below what was painted, as a shell does after Ctrl-Z: that stays where it is. */
  readonly #repaint = (): void => {
    this.#painted = []
    this.#paint()
  }

  /** To the beginning of what is painted. A terminal that became narrower has broken the lines that no longer fit. */
  #back(): string {
    const columns = this.#stream.columns || 80
    const rows = this.#painted.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / columns)),
      0,
    )
    return rows > 0 ? `\r\u001b[${rows}A` : ''
  }
}

/** One column stays free: in some terminals the cursor behind a full line is on the next one. */
export function liveColumns({ columns }: Screen): number {
  return Math.max(1, columns - 1)
}
