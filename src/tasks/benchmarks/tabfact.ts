import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { booleanString } from '../../library/answer-contract.ts'
import type { Table } from '../../library/task.ts'
import { DataError } from '../sources/data-error.ts'
import { decodeUtf8 } from '../sources/data-file.ts'
import { checkRecord, type RecordPlace, readJsonFile } from '../sources/records.ts'
import type { Benchmark } from './benchmark.ts'
import { published } from './published.ts'

const statementsOfTable = z.tuple([
  z.array(z.string().min(1)),
  z.array(z.union([z.literal(0), z.literal(1)])),
  z.string(),
])

const tables = { folder: 'tabfact/data/all_csv', count: 16_573 }
const tableBytes = 2 ** 22

/** Claims about a table: find the cells, count or compare, judge the claim. An example is `<table id>:<index>`. */
export const tabfact: Benchmark = {
  name: 'tabfact',
  title: 'TabFact',
  licence: 'MIT',
  metric: 'accuracy',
  contract: booleanString,
  furtherRoles: [
    'evidence_analyst',
    'logic_reasoner',
    'calculation_auditor',
    'table_interpreter',
    'entailment_judge',
  ],
  tools: ['calculator', 'python_exec', 'table_reader'],
  ...published['tabfact']!,
  tables,
  q1: { train: 'train', test: 'test', evaluation: 500, standIns: [{ train: 'dev', test: 'test' }] },
  async read({ paths, beside }, examples) {
    const path = paths[0]!
    const { value, file } = await readJsonFile(path)
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new DataError('is not one JSON object by table id.', { file: path })
    for (const [index, [tableId, raw]] of Object.entries(value).entries()) {
      const at = { file: path, row: index + 1, index }
      const [statements, labels, caption] = checkRecord(statementsOfTable, raw, at)
      if (labels.length !== statements.length)
        throw new DataError(`has ${statements.length} statements but ${labels.length} labels.`, at, tableId)
      const ids = statements.map((_, position) => `${tableId}:${position}`)
      const wanted = ids.map((id) => examples.claim(id, at, tableId))
      if (!wanted.includes(true)) continue
      const table = readTable(beside(tables.folder), tableId, caption, at)
      for (const [position, id] of ids.entries()) {
        if (!wanted[position]) continue
        const question = statements[position]!
        // A statement whose table is missing is part of the pool but has no task.
        const task = table === undefined ? undefined : { question, tables: [table], metadata: {} }
        examples.add(id, task, { kind: 'boolean', value: labels[position] === 1 })
      }
    }
    examples.files.push(file)
  },
}

function readTable(folder: string, tableId: string, caption: string, at: RecordPlace): Table | undefined {
  // The id becomes a path, so it must be a plain file name.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(tableId))
    throw new DataError(`'${tableId}' is not the name of a table file.`, at, tableId)
  const path = join(folder, tableId)
  // Synchronous, because for thousands of files of a kilobyte, streams would take longer to set up.
  const status = statSync(path, { throwIfNoEntry: false })
  if (status === undefined) return undefined
  if (!status.isFile() || status.size > tableBytes)
    throw new DataError(`is not a file of at most ${tableBytes} bytes.`, { file: path })
  const text = decodeUtf8(readFileSync(path), { file: path })
  // Cells are separated by '#', without quoting. A row may be shorter or longer than the header.
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  if (lines.at(-1) === '') lines.pop()
  const [header, ...rows] = lines.map((line) => line.split('#'))
  if (header === undefined)
    throw new DataError('is empty; the first line must name the columns.', { file: path })
  return { name: tableId, caption, header, rows }
}
