import { DataError } from '../sources/data-error.ts'

/** A record of a CSV file, with the line on which it begins. */
export interface CsvRecord {
  readonly line: number
  readonly cells: readonly string[]
}

/**
 * The records of a CSV text as RFC 4180 has it: commas, double quotes around cells that need them, a quote inside such
 * a cell doubled, lines ending in CR LF or LF. Strict, since a cell that shifts by a column is a wrong answer that
 * nobody notices. Lines with nothing on them are left out.
 */
export function parseCsv(text: string, file: string): CsvRecord[] {
  const records: CsvRecord[] = []
  const scanner = new CsvScanner(text, file)
  while (!scanner.atEnd) {
    const record = scanner.record()
    if (record.cells.length > 1 || record.cells[0] !== '' || record.quoted) records.push(record)
  }
  return records
}

class CsvScanner {
  readonly #text: string
  readonly #file: string
  #at = 0
  #line = 1

  constructor(text: string, file: string) {
    this.#text = text.startsWith('\ufeff') ? text.slice(1) : text
    this.#file = file
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length
  }

  record(): CsvRecord & { readonly quoted: boolean } {
    const line = this.#line
    const quoted = this.#text[this.#at] === '"'
    const cells = [this.#cell()]
    while (this.#take(',')) cells.push(this.#cell())
    if (!this.atEnd && !this.#take('\n') && !this.#take('\r\n'))
      throw this.#refusal('has text after a closing quote. Double each quote inside a quoted cell.')
    this.#line += 1
    return { line, cells, quoted }
  }

  #cell(): string {
    return this.#take('"') ? this.#quotedCell() : this.#plainCell()
  }

  #plainCell(): string {
    const rest = /[",\r\n]/g
    rest.lastIndex = this.#at
    const end = rest.exec(this.#text)?.index ?? this.#text.length
    if (this.#text[end] === '"')
      throw this.#refusal(
        'has a quote inside a cell that is not quoted. Quote the cell and double the quote.',
      )
    if (this.#text[end] === '\r' && this.#text[end + 1] !== '\n')
      throw this.#refusal('has a carriage return without a line feed. Save the file with LF or CR LF.')
    return this.#advance(end)
  }

  #quotedCell(): string {
    const opened = this.#line
    const parts: string[] = []
    for (;;) {
      const quote = this.#text.indexOf('"', this.#at)
      if (quote === -1)
        throw new DataError('has a quoted cell that never ends. Close the quote.', {
          file: this.#file,
          row: opened,
        })
      const part = this.#advance(quote)
      this.#line += lineFeedsIn(part)
      parts.push(part)
      this.#at += 1
      if (!this.#take('"')) return parts.join('')
      parts.push('"')
    }
  }

  #advance(to: number): string {
    const passed = this.#text.slice(this.#at, to)
    this.#at = to
    return passed
  }

  #take(expected: string): boolean {
    if (!this.#text.startsWith(expected, this.#at)) return false
    this.#at += expected.length
    return true
  }

  #refusal(problem: string): DataError {
    return new DataError(problem, { file: this.#file, row: this.#line })
  }
}

function lineFeedsIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
