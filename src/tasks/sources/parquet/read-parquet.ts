// Rows of a Parquet file. The library decodes; what it would allocate is checked first, because a file of a few
// hundred bytes can claim pages, runs and lists of any size, and repeat one text in every row.
import { readFile, stat } from 'node:fs/promises'
import {
  type ColumnChunk,
  type FileMetaData,
  parquetMetadata,
  parquetReadObjects,
  parquetSchema,
  type SchemaTree,
} from 'hyparquet'
import { DataError } from '../data-error.ts'
import type { FileLimits as Limits } from '../data-file.ts'
import { checkPages, codecs } from './check-pages.ts'
import { readThrift } from './thrift.ts'

const mebibyte = 2 ** 20
const footerBytes = 4 * mebibyte
/** A row group is decoded as a whole. */
const groupBytes = 512 * mebibyte
const groupValues = 20_000_000
/** A hostile file can repeat a row at almost no cost. Real rows differ, so a large file has fewer rows than bytes. */
const rowsOfAnyFile = 10_000
const valuesPerRow = 16
const deepestColumn = 8

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Passes every row to `consume`, as the JSON value it would have in JSON Lines, one row group at a time. */
export async function readParquet(
  path: string,
  limits: Limits,
  consume: (row: unknown, index: number) => void,
): Promise<void> {
  try {
    if ((await stat(path)).size > limits.documentBytes)
      throw new RangeError(`it has more than ${limits.documentBytes} bytes`)
    const bytes = new Uint8Array(await readFile(path))
    const slice = (start: number, end = bytes.length) => {
      if (start >= 0 && start <= end && end <= bytes.length) return bytes.slice(start, end).buffer
      throw new RangeError(`it points to bytes ${start} to ${end}, but has ${bytes.length}`)
    }
    const metadata = readMetadata(bytes, limits)
    const allowed = Math.min(limits.expandedBytes, Math.max(16 * mebibyte, limits.ratio * bytes.length))
    let left = allowed
    let characters = allowed
    // Rows may share a text in memory, but readers may copy it.
    const countText = (text: string) => {
      characters -= text.length
      if (characters >= 0) return text
      throw new RangeError('the texts of its rows expand to more than an honest file of its size')
    }
    let start = 0
    for (const group of metadata.row_groups) {
      let expanded = 0
      for (const column of shapesOf(metadata, group)) {
        const chunk = new Uint8Array(slice(...column.range))
        expanded += checkPages(chunk, column, Math.min(left, groupBytes) - expanded)
      }
      left -= expanded
      const end = start + Number(group.num_rows)
      const rows = await parquetReadObjects({
        file: { byteLength: bytes.length, slice },
        metadata,
        compressors: codecs,
        rowStart: start,
        rowEnd: end,
        geoparquet: false,
        parsers: { stringFromBytes: (text) => text && utf8.decode(text) },
      })
      for (const [index, row] of rows.entries()) consume(jsonValue(row, countText), start + index)
      start = end
    }
  } catch (error) {
    if (error instanceof DataError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new DataError(`cannot be read as Parquet (${reason}); the file may be truncated or damaged.`, {
      file: path,
      cause: error,
    })
  }
}

function readMetadata(bytes: Uint8Array<ArrayBuffer>, limits: Limits): FileMetaData {
  if (bytes.length < 12) throw new RangeError('it is too short')
  const length = new DataView(bytes.buffer).getUint32(bytes.length - 8, true)
  if (length > Math.min(footerBytes, bytes.length - 12))
    throw new RangeError(`its footer claims ${length} bytes`)
  readThrift(bytes.subarray(0, -8), bytes.length - 8 - length)
  const metadata = parquetMetadata(bytes.buffer, { geoparquet: false })
  if (metadata.schema.some(({ name }) => name === '__proto__'))
    throw new RangeError("it has a column named '__proto__'")
  const mostRows = Math.max(rowsOfAnyFile, bytes.length)
  let rows = 0
  let values = 0
  for (const group of metadata.row_groups) {
    const count = Number(group.num_rows)
    if (!(count >= 0)) throw new RangeError('a row group has no number of rows')
    rows += count
    if (rows > limits.rows) throw new RangeError(`it has more than ${limits.rows} rows`)
    if (rows > mostRows) throw new RangeError(`it has ${rows} rows or more in ${bytes.length} bytes`)
    let inGroup = 0
    for (const { meta_data: meta } of group.columns) inGroup += Math.max(Number(meta?.num_values ?? 0), count)
    values += inGroup
    if (!(values <= mostRows * valuesPerRow))
      throw new RangeError(`it has ${values} values or more in ${bytes.length} bytes`)
    if (inGroup > groupValues)
      throw new RangeError(`a row group has more than ${groupValues} values; write smaller groups`)
  }
  if (rows !== Number(metadata.num_rows))
    throw new RangeError(`it claims ${metadata.num_rows} rows, but its groups have ${rows}`)
  return metadata
}

/** The location of each column of a row group, and what the check of its pages needs to know. */
function shapesOf(metadata: FileMetaData, { columns }: FileMetaData['row_groups'][number]) {
  const root = parquetSchema(metadata)
  return columns.map(({ meta_data: meta, file_path: elsewhere }: ColumnChunk) => {
    if (meta === undefined || elsewhere)
      throw new RangeError('it keeps columns elsewhere, which is not read here')
    const path = meta.path_in_schema
    if (path.length >= deepestColumn) throw new RangeError(`column ${path.join('.')} is nested too deeply`)
    const kinds = repetitionsOf(root, path)
    const start = Number(meta.dictionary_page_offset || meta.data_page_offset)
    const levels = [kinds.filter((kind) => kind === 'REPEATED'), kinds.filter((kind) => kind !== 'REQUIRED')]
    return {
      range: [start, start + Number(meta.total_compressed_size)] as const,
      codec: meta.codec,
      isBoolean: meta.type === 'BOOLEAN',
      highestLevels: [levels[0]!.length, levels[1]!.length] as const,
      values: Number(meta.num_values),
    }
  })
}

/** Whether each field on the path to a column is required, optional or repeated. */
function repetitionsOf(root: SchemaTree, path: readonly string[]) {
  let node = root
  return path.map((name) => {
    const child = node.children.find(({ element }) => element.name === name)
    if (child === undefined) throw new RangeError(`column ${path.join('.')} is not in its schema`)
    node = child
    return node.element.repetition_type
  })
}

/** The value as in JSON: small 64-bit integers as numbers, dates as text. */
function jsonValue(value: unknown, countText: (text: string) => string): unknown {
  if (typeof value === 'string') return countText(value)
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map((inner) => jsonValue(inner, countText))
  if (ArrayBuffer.isView(value) || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, jsonValue(inner, countText)]))
}
