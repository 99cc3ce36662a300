// Rows of a Parquet file. The library decodes; what it would allocate is checked before, since a file of a few hundred
// bytes can claim pages, runs and lists of any size.
import { type FileHandle, open } from 'node:fs/promises'
import { type ColumnChunk, type FileMetaData, parquetMetadata, parquetReadObjects } from 'hyparquet'
import { getMaxDefinitionLevel, getMaxRepetitionLevel, getSchemaPath } from 'hyparquet/src/schema.js'
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
    let left = Math.min(limits.expandedBytes, Math.max(16 * mebibyte, limits.ratio * file.byteLength))
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
      for (const [index, row] of rows.entries()) consume(jsonValue(row), start + index)
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
  let rows = 0
  for (const group of metadata.row_groups) {
    const count = Number(group.num_rows)
    if (!(count >= 0)) throw new RangeError('a row group has no number of rows')
    rows += count
    if (rows > limits.rows) throw new RangeError(`it has more than ${limits.rows} rows`)
  }
  if (rows !== Number(metadata.num_rows))
    throw new RangeError(`it claims ${metadata.num_rows} rows, but its groups have ${rows}`)
  return metadata
}

/** Checks every page of a row group, which may expand to as many bytes as are left; gives its expanded size. */
async function checkGroup(
  file: BoundedFile,
  { schema }: FileMetaData,
  { columns, num_rows: rows }: FileMetaData['row_groups'][number],
  left: number,
): Promise<number> {
  const allowed = Math.min(left, groupBytes)
  let expanded = 0
  let values = 0
  for (const column of columns) {
    const { meta_data: meta } = column
    if (meta === undefined || column.file_path)
      throw new RangeError('it keeps columns elsewhere, which is not read here')
    values += Math.max(Number(meta.num_values), Number(rows))
    if (values > groupValues)
      throw new RangeError(`a row group has more than ${groupValues} values; write smaller groups`)
    const path = getSchemaPath(schema, meta.path_in_schema)
    if (path.length > deepestColumn)
      throw new RangeError(`column ${meta.path_in_schema.join('.')} is nested too deeply`)
    const shape = {
      codec: meta.codec,
      isBoolean: meta.type === 'BOOLEAN',
      maxRepetition: getMaxRepetitionLevel(path),
      maxDefinition: getMaxDefinitionLevel(path),
    }
    expanded += await checkColumn(file, meta, shape, allowed - expanded)
  }
  return expanded
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

/** What the value would be in JSON: small integers of 64 bits as numbers, moments as text. */
function jsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(jsonValue)
  if (ArrayBuffer.isView(value) || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, jsonValue(inner)]))
}
