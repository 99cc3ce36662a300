import { hideCursor } from './cursor.ts'

/** A line as it is written, and the cells it takes: colours take none. */
export interface PaintedLine {
  readonly text: string
  readonly width: number
}

/** The last lines of a terminal, painted again and again in place. */
export class LiveArea {
  readonly #stream: NodeJS.WriteStream
  #painted: readonly PaintedLine[] = []
  #showCursor: (() => void) | undefined

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
  }

  /** One write for one frame, so that nothing flickers. Each line must be narrower than the terminal. */
  paint(lines: readonly PaintedLine[]): void {
    this.#showCursor ??= hideCursor(this.#stream, () => {
      // The shell has written below by now: what was painted stays where it is.
      this.#painted = []
      this.paint(lines)
    })
    const frame = lines.map(({ text }) => `${text}\u001b[K\n`).join('')
    this.#stream.write(`${this.#back()}${frame}\u001b[J`)
    this.#painted = lines
  }

  /** Writes something that stays, above the lines. */
  above(text: string): void {
    const lines = this.#painted
    this.#stream.write(`${this.#back()}\u001b[J${text}`)
    this.#painted = []
    if (lines.length > 0) this.paint(lines)
  }

  /** Takes the lines away. */
  clear(): void {
    if (this.#painted.length > 0) this.#stream.write(`${this.#back()}\u001b[J`)
    this.#painted = []
    this.#showCursor?.()
    this.#showCursor = undefined
  }

  /** To the beginning of what is painted. A terminal that became narrower has broken the lines that no longer fit. */
  #back(): string {
    const columns = this.#stream.columns || 80
    const rows = this.#painted.reduce((sum, { width }) => sum + Math.max(1, Math.ceil(width / columns)), 0)
    return rows > 0 ? `\r\u001b[${rows}A` : ''
  }
}
