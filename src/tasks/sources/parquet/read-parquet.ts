// Rows of a Parquet file. The library decodes; what it would allocate is checked before, since a file of a few hundred
// bytes can claim pages, runs and lists of any size, and repeat one text in every row.
import { type FileHandle, open } from 'node:fs/promises'
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
import { type ColumnShape, checkPage, pageHeader } from './check-page.ts'
import { codecs } from './codecs.ts'
import { readThrift } from './thrift.ts'

const footerBytes = 2 ** 26
const headerBytes = 2 ** 20
const mebibyte = 2 ** 20
/** A row group is decoded as a whole. */
const groupBytes = 2 ** 29
const groupValues = 20_000_000
/** A run repeats a value for nothing, but rows of a benchmark differ: a file has no more of them than bytes, unless few. */
const rowsOfAnyFile = 10_000
const valuesPerRow = 16
const deepestColumn = 8

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Hands every row to `consume` as the JSON value that the same row has in JSON Lines, row group by row group. */
export async function readParquet(
  path: string,
  limits: Limits,
  consume: (row: unknown, index: number) => void,
): Promise<void> {
  await using handle = await open(path)
  const file = new BoundedFile(handle, (await handle.stat()).size)
  let start = 0
  try {
    const metadata = await readMetadata(file, limits)
    const allowed = Math.min(limits.expandedBytes, Math.max(16 * mebibyte, limits.ratio * file.byteLength))
    let left = allowed
    const text = new TextBudget(allowed)
    for (const group of metadata.row_groups) {
      left -= await checkGroup(file, metadata, group, left)
      const end = start + Number(group.num_rows)
      const rows = await parquetReadObjects({
        file,
        metadata,
        compressors: codecs,
        rowStart: start,
        rowEnd: end,
        geoparquet: false,
        parsers: { stringFromBytes: (bytes) => bytes && utf8.decode(bytes) },
      })
      for (const [index, row] of rows.entries()) consume(jsonValue(row, text), start + index)
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

class BoundedFile {
  readonly byteLength: number
  readonly #handle: FileHandle

  constructor(handle: FileHandle, byteLength: number) {
    this.#handle = handle
    this.byteLength = byteLength
  }

  async slice(start: number, end = this.byteLength): Promise<ArrayBuffer> {
    if (!(start >= 0 && start <= end && end <= this.byteLength))
      throw new RangeError(`it points to bytes ${start} to ${end}, but has ${this.byteLength}`)
    const bytes = new Uint8Array(end - start)
    let filled = 0
    while (filled < bytes.length) {
      const { bytesRead } = await this.#handle.read(bytes, filled, bytes.length - filled, start + filled)
      if (bytesRead === 0) throw new RangeError('it became shorter while it was read')
      filled += bytesRead
    }
    return bytes.buffer
  }
}

async function readMetadata(file: BoundedFile, limits: Limits): Promise<FileMetaData> {
  if (file.byteLength < 12) throw new RangeError('it is too short')
  const tail = new DataView(await file.slice(file.byteLength - 8))
  if (tail.getUint32(4, true) !== 0x31524150) throw new RangeError('it does not end in PAR1')
  const length = tail.getUint32(0, true)
  if (length > footerBytes || length > file.byteLength - 12)
    throw new RangeError(`its footer claims ${length} bytes`)
  const footer = await file.slice(file.byteLength - 8 - length)
  readThrift(new Uint8Array(footer, 0, length))
  const metadata = parquetMetadata(footer, { geoparquet: false })
  if (metadata.schema.some(({ name }) => name === '__proto__'))
    throw new RangeError("it has a column named '__proto__'")
  const mostRows = Math.max(rowsOfAnyFile, file.byteLength)
  let rows = 0
  let values = 0
  for (const group of metadata.row_groups) {
    const count = Number(group.num_rows)
    if (!(count >= 0)) throw new RangeError('a row group has no number of rows')
    rows += count
    if (rows > limits.rows) throw new RangeError(`it has more than ${limits.rows} rows`)
    if (rows > mostRows) throw new RangeError(`it has ${rows} rows or more in ${file.byteLength} bytes`)
    for (const { meta_data: meta } of group.columns) values += Math.max(Number(meta?.num_values ?? 0), count)
    if (!(values <= mostRows * valuesPerRow))
      throw new RangeError(`it has ${values} values or more in ${file.byteLength} bytes`)
  }
  if (rows !== Number(metadata.num_rows))
    throw new RangeError(`it claims ${metadata.num_rows} rows, but its groups have ${rows}`)
  return metadata
}

/** Checks every page of a row group, which may expand to as many bytes as are left; gives its expanded size. */
async function checkGroup(
  file: BoundedFile,
  metadata: FileMetaData,
  { columns, num_rows: rows }: FileMetaData['row_groups'][number],
  left: number,
): Promise<number> {
  const allowed = Math.min(left, groupBytes)
  const root = parquetSchema(metadata)
  let expanded = 0
  let values = 0
  for (const column of columns) {
    const { meta_data: meta } = column
    if (meta === undefined || column.file_path)
      throw new RangeError('it keeps columns elsewhere, which is not read here')
    values += Math.max(Number(meta.num_values), Number(rows))
    if (values > groupValues)
      throw new RangeError(`a row group has more than ${groupValues} values; write smaller groups`)
    if (meta.path_in_schema.length >= deepestColumn)
      throw new RangeError(`column ${meta.path_in_schema.join('.')} is nested too deeply`)
    const kinds = repetitionsOf(root, meta.path_in_schema)
    const shape = {
      codec: meta.codec,
      isBoolean: meta.type === 'BOOLEAN',
      maxRepetition: kinds.filter((kind) => kind === 'REPEATED').length,
      maxDefinition: kinds.filter((kind) => kind !== 'REQUIRED').length,
    }
    expanded += await checkColumn(file, meta, shape, allowed - expanded)
  }
  return expanded
}

/** Whether each field on the way to a column is required, optional or repeated. */
function repetitionsOf(root: SchemaTree, path: readonly string[]) {
  let node = root
  return path.map((name) => {
    const child = node.children.find(({ element }) => element.name === name)
    if (child === undefined) throw new RangeError(`column ${path.join('.')} is not in its schema`)
    node = child
    return node.element.repetition_type
  })
}

async function checkColumn(
  file: BoundedFile,
  meta: NonNullable<ColumnChunk['meta_data']>,
  shape: ColumnShape,
  allowed: number,
): Promise<number> {
  const start = Number(meta.dictionary_page_offset || meta.data_page_offset)
  const size = Number(meta.total_compressed_size)
  if (!(size >= 0 && size <= groupBytes)) throw new RangeError(`a column claims ${size} bytes`)
  const chunk = new Uint8Array(await file.slice(start, start + size))
  let expanded = 0
  let values = 0
  // As the library does: what is left in the last byte is no page.
  for (let offset = 0; offset < chunk.length - 1; ) {
    const { struct, end } = readThrift(chunk.subarray(0, offset + headerBytes), offset)
    const header = pageHeader(struct)
    expanded += header.expandedBytes
    if (header.kind !== 'dictionary') values += header.values
    if (expanded > allowed)
      throw new RangeError('it expands to more than an honest file of its size, or has too large row groups')
    if (values > Number(meta.num_values))
      throw new RangeError('the pages of a column have more values than its header says')
    if (header.compressedBytes > chunk.length - end) throw new RangeError('a page is longer than its column')
    offset = end + header.compressedBytes
    checkPage(chunk.subarray(end, offset), header, shape)
  }
  return expanded
}

/** Counts what the texts of all rows come to: rows may share one in memory, but not with those who read them. */
class TextBudget {
  #left: number

  constructor(characters: number) {
    this.#left = characters
  }

  take(text: string): string {
    this.#left -= text.length
    if (this.#left < 0)
      throw new RangeError('the texts of its rows expand to more than an honest file of its size')
    return text
  }
}

/** What the value would be in JSON: small integers of 64 bits as numbers, moments as text. */
function jsonValue(value: unknown, text: TextBudget): unknown {
  if (typeof value === 'string') return text.take(value)
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map((inner) => jsonValue(inner, text))
  if (ArrayBuffer.isView(value) || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, jsonValue(inner, text)]))
}
