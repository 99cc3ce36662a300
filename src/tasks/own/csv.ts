import { DataError } from '../sources/data-error.ts'

/** A record of a CSV file, with the line where it starts. */
export interface CsvRecord {
  readonly line: number
  readonly cells: readonly string[]
}

/**
 * The records of a CSV text according to RFC 4180: commas, double quotes around cells that need them, a quote inside
 * such a cell doubled, lines ending in CR LF or LF. Strict, because a cell shifted by a column is a wrong answer that
 * nobody notices. Empty lines are skipped.
 */
export function parseCsv(text: string, file: string): CsvRecord[] {
  const records: CsvRecord[] = []
  let line = 1
  let at = text.startsWith('\ufeff') ? 1 : 0
  const refusal = (problem: string) => new DataError(problem, { file, row: line })

  const quotedCell = (): string => {
    let end = at
    do {
      end = text.indexOf('"', end + 1)
      if (end === -1) throw refusal('has a quoted cell that never ends. Close the quote.')
      end += 1
    } while (text[end] === '"')
    const content = text.slice(at + 1, end - 1)
    at = end
    line += content.split('\n').length - 1
    return content.replaceAll('""', '"')
  }

  const plainCell = (): string => {
    const start = at
    plainEnd.lastIndex = at
    at = plainEnd.exec(text)?.index ?? text.length
    if (text[at] === '"')
      throw refusal('has a quote inside a cell that is not quoted. Quote the cell and double the quote.')
    if (text[at] === '\r' && text[at + 1] !== '\n')
      throw refusal('has a carriage return without a line feed. Save the file with LF or CR LF.')
    return text.slice(start, at)
  }

  while (at < text.length) {
    const first = { line, isQuoted: text[at] === '"' }
    const cells: string[] = []
    do {
      if (cells.length > 0) at += 1
      cells.push(text[at] === '"' ? quotedCell() : plainCell())
    } while (text[at] === ',')
    if (text.startsWith('\r\n', at)) at += 2
    else if (text[at] === '\n') at += 1
    else if (at < text.length)
      throw refusal('has text after a closing quote. Double each quote inside a quoted cell.')
    line += 1
    if (cells.length > 1 || cells[0] !== '' || first.isQuoted) records.push({ line: first.line, cells })
  }
  return records
}

const plainEnd = /[",\r\n]/g
