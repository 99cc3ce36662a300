import type { Option } from '../../library/task.ts'
import { DataError } from '../sources/data-error.ts'
import { parseCsv } from './csv.ts'
import { questionFields } from './question.ts'

/** A CSV row as a question's fields, not checked yet. */
interface CsvQuestion {
  readonly fields: Readonly<Record<string, unknown>>
  readonly line: number
}

const asWritten = (cell: string) => cell
const trimmed = (cell: string) => cell.trim()
const listed = (cell: string) => cell.split('|').map(trimmed)

/** How to read the cells of these columns; each fills the field of its name. */
const columns = new Map<string, (cell: string) => unknown>([
  ['id', trimmed],
  ['question', asWritten],
  ['answer', asWritten],
  ['context', asWritten],
  ['split', trimmed],
  ['options', listed],
  ['solution', asWritten],
  ['wrong', listed],
])
const optionColumn = /^option_([a-z])$/

/** Reads questions from CSV. An empty cell means that the field is absent. */
export function csvQuestions(text: string, file: string, longestCell: number): CsvQuestion[] {
  const [header, ...records] = parseCsv(text, file)
  if (header === undefined) throw new DataError('is empty. The first line names the columns.', { file })
  const names = header.cells.map(trimmed)
  checkHeader(names, { file, row: header.line })
  return records.map(({ cells, line }) => {
    const at = { file, row: line }
    if (cells.length !== names.length)
      throw new DataError(
        `has ${cells.length} cells, but there are ${names.length} columns. Quote cells that contain commas.`,
        at,
      )
    const fields: Record<string, unknown> = {}
    const options: Option[] = []
    const metadata: [string, string][] = []
    for (const [index, cell] of cells.entries()) {
      const name = names[index]!
      const field = name.toLowerCase()
      if (cell.length > longestCell)
        throw new DataError(`is longer than ${longestCell} characters. Shorten it.`, at, name)
      if (cell.trim() === '') continue
      const label = optionColumn.exec(field)?.[1]
      const read = columns.get(field)
      if (label !== undefined) options.push({ label: label.toUpperCase(), text: cell })
      else if (read !== undefined) fields[field] = read(cell)
      else metadata.push([name, cell])
    }
    if (options.length > 0) fields['options'] = options.sort((a, b) => (a.label < b.label ? -1 : 1))
    // From entries, so that a column called __proto__ is just a column.
    if (metadata.length > 0) fields['metadata'] = Object.fromEntries(metadata)
    return { fields, line }
  })
}

function checkHeader(names: readonly string[], at: { file: string; row: number }): void {
  const lower = names.map((name) => name.toLowerCase())
  for (const needed of ['question', 'answer']) {
    if (lower.includes(needed)) continue
    const other = names.length === 1 ? /[;\t]/.exec(names[0]!)?.[0] : undefined
    const hint = ` Columns are separated by commas here, not by ${other === ';' ? 'semicolons' : 'tabs'}.`
    throw new DataError(
      `there is no column '${needed}'; the columns are ${names.join(', ')}.${other === undefined ? '' : hint}`,
      at,
    )
  }
  const choices = lower.filter((name) => optionColumn.test(name))
  if (lower.includes('options') && choices.length > 0)
    throw new DataError(`cannot be combined with ${choices.join(', ')}; use one or the other.`, at, 'options')
  for (const [index, name] of lower.entries()) {
    if (name === '') throw new DataError(`column ${index + 1} has no name.`, at)
    if (lower.indexOf(name) !== index)
      throw new DataError('there are two columns with this name.', at, names[index])
    // As metadata, such fields would become public, including hidden tests.
    if (!columns.has(name) && questionFields.some((field) => field.toLowerCase() === name))
      throw new DataError('is not supported in CSV. Use JSON Lines, or rename the column.', at, names[index])
  }
}
