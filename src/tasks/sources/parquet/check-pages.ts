import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { Compressors } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { readThrift, type ThriftStruct } from './thrift.ts'

/** Each returns at most the bytes stated in the page's header, which was checked before; larger pages throw. */
export const codecs: Compressors = {
  ...compressors,
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
}

/** What the check of a column's pages needs to know. */
interface ColumnShape {
  readonly codec: keyof Compressors
  readonly isBoolean: boolean
  /** The highest repetition and definition level; 0 if there are none. */
  readonly highestLevels: readonly [repetition: number, definition: number]
  readonly values: number
}

const headerBytes = 2 ** 20
const dictionaryPage = 2
const pageV2 = 3
/** The field of a page header that describes a page of this kind. */
const fieldOfKind = new Map([
  [0, 5],
  [dictionaryPage, 7],
  [pageV2, 8],
])

// The encodings that the library decodes within the bounds checked here. Others are for floating-point and sorted
// columns.
const rle = 3
const encodings = { plain: [0], runs: [2, rle, 8], delta: [5, 6] }

/**
 * Checks the pages of a column before the library reads them, because it would allocate whatever memory a page's
 * header or runs claim. Returns the size they expand to, or throws a RangeError.
 */
export function checkPages(chunk: Uint8Array, column: ColumnShape, allowed: number): number {
  let expanded = 0
  let values = 0
  // Like the library: a single leftover byte is not a page.
  for (let offset = 0; offset < chunk.length - 1; ) {
    const { struct, end } = readThrift(chunk.subarray(0, offset + headerBytes), offset)
    const kind = size(struct, 1)
    const inner = struct.get(fieldOfKind.get(kind) ?? -1)
    if (typeof inner !== 'object') throw new RangeError('it has a page of an unknown kind')
    const [expandedBytes, compressedBytes] = [size(struct, 2), size(struct, 3)]
    expanded += expandedBytes
    if (kind !== dictionaryPage) values += size(inner, 1)
    if (expanded > allowed)
      throw new RangeError('it expands to more than an honest file of its size, or has too large row groups')
    if (values > column.values)
      throw new RangeError('the pages of a column have more values than its header says')
    if (compressedBytes > chunk.length - end) throw new RangeError('a page is longer than its column')
    offset = end + compressedBytes
    checkPage(chunk.subarray(end, offset), kind, inner, expandedBytes, column)
  }
  return expanded
}

/** Expands a page whose sizes were accepted, and checks that its runs do not exceed its number of values. */
function checkPage(
  bytes: Uint8Array,
  kind: number,
  inner: ThriftStruct,
  expandedBytes: number,
  column: ColumnShape,
): void {
  const values = size(inner, 1)
  const encoding = size(inner, kind === pageV2 ? 4 : 2)
  if (!Object.values(encodings).flat().includes(encoding))
    throw new RangeError('a page has an encoding that is not read here; write the file with another one')
  if (kind === dictionaryPage) {
    if (values > 8 * expandedBytes) throw new RangeError('a dictionary has more values than bytes')
    return
  }
  const levelWidths = column.highestLevels.map((level) => 32 - Math.clz32(level))
  let page: Uint8Array
  let offset = 0
  if (kind === pageV2) {
    // In version 2, levels come before the compressed part, without their lengths.
    const lengths = [size(inner, 6), size(inner, 5)]
    const levelBytes = lengths[0]! + lengths[1]!
    if (size(inner, 2) > values || levelBytes > Math.min(bytes.length, expandedBytes))
      throw new RangeError('the sizes in a page header contradict each other')
    for (const [index, width] of levelWidths.entries())
      if (width > 0) checkRuns(bytes, index === 0 ? 0 : lengths[0]!, width, values)
    const rest = bytes.subarray(levelBytes)
    page = inner.get(7) === 0 ? rest : expand(rest, expandedBytes - levelBytes, column)
  } else {
    page = expand(bytes, expandedBytes, column)
    for (const width of levelWidths) if (width > 0) offset = checkMeasuredRuns(page, offset, width, values)
  }
  if (encoding === rle && column.isBoolean) checkMeasuredRuns(page, offset, 1, values)
  else if (encodings.runs.includes(encoding)) checkRuns(page, offset + 1, page[offset] ?? 0, values)
}

function size(struct: ThriftStruct, field: number): number {
  const value = struct.get(field)
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new RangeError('a page header lacks a size')
  return value
}

function expand(bytes: Uint8Array, length: number, { codec }: ColumnShape): Uint8Array {
  if (codec === 'UNCOMPRESSED') return bytes
  const decompress = codecs[codec]
  if (decompress === undefined) throw new RangeError(`its compression ${codec} is not read here`)
  return decompress(bytes, length)
}

/** Checks runs preceded by a four-byte length; returns where they end. */
function checkMeasuredRuns(page: Uint8Array, offset: number, width: number, values: number): number {
  const start = offset + 4
  if (start > page.length) throw new RangeError('a page ends before its levels')
  const end = start + new DataView(page.buffer, page.byteOffset).getUint32(offset, true)
  if (end > page.length) throw new RangeError('the levels of a page are longer than the page')
  checkRuns(page, start, width, values)
  return end
}

/**
 * Checks that runs of Parquet's hybrid encoding (repeated and bit-packed values) give at most `count` values. The
 * library expands a run to its stated length, so a few bytes could fill memory.
 */
function checkRuns(bytes: Uint8Array, start: number, width: number, count: number): void {
  if (width > 32) throw new RangeError(`a page has values of ${width} bits`)
  let offset = start
  let seen = 0
  while (seen < count && offset < bytes.length) {
    let head = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[offset]
      if (byte === undefined || factor > 128 ** 4) throw new RangeError('a page ends within a run')
      head += (byte & 127) * factor
      offset += 1
      if (byte < 128) break
    }
    const repeated = head % 2 === 0
    const length = Math.floor(head / 2) * (repeated ? 1 : 8)
    // The last group of eight may contain padding.
    if (length > count - seen + (repeated ? 0 : 7))
      throw new RangeError(`a page has a run of ${length} values where ${count - seen} are left`)
    offset += repeated ? Math.ceil(width / 8) : (length * width) / 8
    seen += length
  }
}
