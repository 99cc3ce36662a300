import { DataError } from '../sources/data-error.ts'
import { type CsvRecord, parseCsv } from './csv.ts'
import { questionFields } from './question.ts'

/** A row of a CSV file as a question's fields, not checked yet. */
export interface CsvQuestion {
  readonly fields: Readonly<Record<string, unknown>>
  readonly line: number
}

type Fields = Record<string, unknown>
type CellReader = (cell: string, fields: Fields) => void

const listed = (cell: string): string[] => cell.split('|').map((part) => part.trim())

/** What a cell of these columns says; each fills the field of its name. */
const columns: Readonly<Record<string, (cell: string) => unknown>> = {
  id: (cell) => cell.trim(),
  question: (cell) => cell,
  answer: (cell) => cell,
  context: (cell) => cell,
  split: (cell) => cell.trim(),
  options: listed,
  solution: (cell) => cell,
  wrong: listed,
}

/** Fields that no cell can hold. As metadata they would be public, hidden tests among them. */
const withoutColumn = questionFields.filter((field) => !Object.hasOwn(columns, field))

/** Reads the table of questions that a CSV text is. An empty cell is a field that is not given. */
export function csvQuestions(text: string, file: string, longestCell: number): CsvQuestion[] {
  const [header, ...records] = parseCsv(text, file)
  if (header === undefined) throw new DataError('is empty. The first line names the columns.', { file })
  const readers = readersOf(header, file)
  return records.map((record) => {
    if (record.cells.length !== readers.length) throw raggedRow(record, readers.length, file)
    const fields: Fields = {}
    for (const [index, cell] of record.cells.entries()) {
      if (cell.length > longestCell)
        throw new DataError(
          `is longer than ${longestCell} characters. Shorten it.`,
          { file, row: record.line },
          header.cells[index]!.trim(),
        )
      if (cell.trim() !== '') readers[index]!(cell, fields)
    }
    return { fields, line: record.line }
  })
}

function readersOf({ cells, line }: CsvRecord, file: string): CellReader[] {
  const names = cells.map((cell) => cell.trim())
  const lower = names.map((name) => name.toLowerCase())
  const refuse = (problem: string, field?: string): never => {
    throw new DataError(problem, { file, row: line }, field)
  }
  for (const needed of ['question', 'answer']) {
    if (lower.includes(needed)) continue
    const other = /[;\t]/.exec(cells[0]!)?.[0]
    const hint =
      cells.length === 1 && other !== undefined
        ? ` Columns are separated by commas here, not by ${other === ';' ? 'semicolons' : 'tabs'}.`
        : ''
    refuse(`there is no column '${needed}'; the columns are ${names.join(', ')}.${hint}`)
  }
  const choices = lower.filter((name) => optionColumn.test(name))
  if (lower.includes('options') && choices.length > 0)
    refuse(`stands beside ${choices.join(', ')}; give the one or the other.`, 'options')
  return lower.map((name, index) => {
    if (name === '') return refuse(`column ${index + 1} has no name.`)
    if (lower.indexOf(name) !== index) return refuse('there are two columns of this name.', names[index]!)
    if (withoutColumn.some((field) => field.toLowerCase() === name))
      return refuse('cannot be given in CSV. Use JSON Lines, or name the column otherwise.', names[index]!)
    const label = optionColumn.exec(name)?.[1]?.toUpperCase()
    if (label !== undefined) return optionReader(label)
    return Object.hasOwn(columns, name) ? fieldReader(name) : metadataReader(names[index]!)
  })
}

function fieldReader(name: string): CellReader {
  return (cell, fields) => {
    fields[name] = columns[name]!(cell)
  }
}

const optionColumn = /^option_([a-z])$/

function optionReader(label: string): CellReader {
  return (text, fields) => {
    const options = (fields['options'] as { label: string; text: string }[] | undefined) ?? []
    options.push({ label, text })
    fields['options'] = options.sort((a, b) => (a.label < b.label ? -1 : 1))
  }
}

function metadataReader(name: string): CellReader {
  return (cell, fields) => {
    // A column called __proto__ is one more column.
    fields['metadata'] = Object.fromEntries([...Object.entries(fields['metadata'] ?? {}), [name, cell]])
  }
}

function raggedRow({ cells, line }: CsvRecord, expected: number, file: string): DataError {
  return new DataError(
    `has ${cells.length} cells, but there are ${expected} columns. A cell that holds a comma must stand in quotes.`,
    { file, row: line },
  )
}
