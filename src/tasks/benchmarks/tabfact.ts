import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Table } from '../../library/task.ts'
import { DataError } from '../sources/data-error.ts'
import { decodeUtf8 } from '../sources/data-file.ts'
import { checkRecord, type RecordPlace, readJson } from '../sources/records.ts'
import { everyExample, type Split, SplitCollector, type Wanted } from './split.ts'

const tableEntry = z.tuple([
  z.array(z.string().min(1)),
  z.array(z.union([z.literal(0), z.literal(1)])),
  z.string(),
])

const tableBytes = 2 ** 22

/**
 * Statements come in an object by table id; an example is `<table id>:<index>`. Tables are files of `tablesFolder`:
 * a statement whose table is not there counts in the pool but has no task.
 */
export async function readTabfact(
  statementsPath: string,
  tablesFolder: string,
  wanted: Wanted = everyExample,
): Promise<Split> {
  const examples = new SplitCollector()
  const { value, file } = await readJson(statementsPath)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DataError('is not one JSON object by table id.', { file: statementsPath })
  for (const [position, [tableId, raw]] of Object.entries(value).entries()) {
    const at = { file: statementsPath, row: position + 1, index: position }
    const [statements, labels, caption] = checkRecord(tableEntry, raw, at)
    if (labels.length !== statements.length)
      throw new DataError(`has ${statements.length} statements but ${labels.length} labels.`, {
        ...at,
        field: tableId,
      })
    const ids = statements.map((_, index) => `${tableId}:${index}`)
    for (const id of ids) examples.addId(id, at, tableId)
    if (!ids.some(wanted)) continue
    const table = readTable(tablesFolder, tableId, caption, at)
    for (const [index, id] of ids.entries()) {
      if (!wanted(id)) continue
      if (table !== undefined)
        examples.addTask({ id, question: statements[index]!, tables: [table], metadata: {} })
      examples.addReference(id, { kind: 'boolean', value: labels[index] === 1 })
    }
  }
  return examples.split([file])
}

function readTable(folder: string, tableId: string, caption: string, at: RecordPlace): Table | undefined {
  // The id becomes a path, so it must be a plain file name.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(tableId))
    throw new DataError(`'${tableId}' is not the name of a table file.`, { ...at, field: tableId })
  const path = join(folder, tableId)
  // Thousands of files of a kilobyte: read at once, one after the other, since streams would take longer to set up.
  const status = statSync(path, { throwIfNoEntry: false })
  if (status === undefined) return undefined
  if (!status.isFile() || status.size > tableBytes)
    throw new DataError(`is not a file of at most ${tableBytes} bytes.`, { file: path })
  return parseTable(decodeUtf8(readFileSync(path), { file: path }), path, tableId, caption)
}

/** Cells separated by '#', without quoting; the first line is the header. A row may be shorter or longer than it. */
function parseTable(text: string, path: string, name: string, caption: string): Table {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  if (lines.at(-1) === '') lines.pop()
  const [header, ...rows] = lines.map((line) => line.split('#'))
  if (header === undefined)
    throw new DataError('is empty; the first line must name the columns.', { file: path })
  return { name, caption, header, rows }
}
