import { EventEmitter } from 'node:events'
import stringWidth from 'string-width'

/** A terminal that records what it shows and understands only what we send. It does not wrap lines. */
export class FakeTerminal extends EventEmitter {
  readonly isTTY = true
  columns: number
  rows: number
  written = ''
  writes = 0
  /** Cells of the widest line ever shown. */
  widest = 0
  #lines: string[] = ['']
  #row = 0
  #column = 0

  constructor(columns: number, rows = 24) {
    super()
    this.columns = columns
    this.rows = rows
  }

  get stream(): NodeJS.WriteStream {
    return this as unknown as NodeJS.WriteStream
  }

  /** The lines above the cursor. */
  get lines(): string[] {
    return this.#lines.slice(0, this.#row)
  }

  write(text: string): boolean {
    this.written += text
    this.writes += 1
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what a terminal reads
    for (const [token] of text.matchAll(/\u001b\[[?\d]*[A-Za-z]|[\n\r]|[^\u001b\n\r]+/g)) this.#read(token)
    return true
  }

  /** Wraps lines that no longer fit, like most terminals. */
  resize(columns: number): void {
    this.columns = columns
    const broken = this.lines.flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? [''])
    this.#lines = [...broken, '']
    this.#row = broken.length
    this.emit('resize')
  }

  #read(token: string): void {
    const line = this.#lines[this.#row]!
    if (token === '\n') {
      this.#row += 1
      this.#lines[this.#row] ??= ''
    }
    if (token === '\n' || token === '\r') this.#column = 0
    else if (token === '\u001b[J')
      this.#lines = [...this.#lines.slice(0, this.#row), line.slice(0, this.#column)]
    else if (token === '\u001b[K') this.#lines[this.#row] = line.slice(0, this.#column)
    else if (/\[\d+A$/.test(token)) {
      this.#row -= Number.parseInt(token.slice(2), 10)
      if (this.#row < 0) throw new Error('The cursor left the screen.')
    } else if (/\[\?7[hl]$/.test(token)) return
    else if (token.startsWith('\u001b')) throw new Error(`Not understood: ${JSON.stringify(token)}`)
    else {
      const written = line.slice(0, this.#column) + token
      this.#lines[this.#row] = written + line.slice(written.length)
      this.#column = written.length
      this.widest = Math.max(this.widest, stringWidth(written))
    }
  }
}
