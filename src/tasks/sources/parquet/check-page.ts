import { checkRuns } from './check-runs.ts'
import { codecs } from './codecs.ts'
import type { ThriftStruct, ThriftValue } from './thrift.ts'

/** What of a column the check of its pages needs. */
export interface ColumnShape {
  readonly codec: keyof typeof codecs
  readonly isBoolean: boolean
  readonly maxRepetition: number
  readonly maxDefinition: number
}

export interface PageHeader {
  readonly kind: 'data' | 'dictionary' | 'data-v2'
  readonly compressedBytes: number
  readonly expandedBytes: number
  readonly values: number
  readonly encoding: Encoding
  /** Of a page of the second version, whose levels are never compressed. */
  readonly v2?: { nulls: number; repetitionBytes: number; definitionBytes: number; compressed: boolean }
}

// Those that the library decodes within the bounds checked here. The others serve floating-point and sorted columns.
const encodings = new Map<number, Encoding>([
  [0, 'plain'],
  [2, 'dictionary'],
  [3, 'rle'],
  [5, 'delta'],
  [6, 'delta'],
  [8, 'dictionary'],
])
type Encoding = 'plain' | 'dictionary' | 'rle' | 'delta'

const kinds = new Map<number, PageHeader['kind']>([
  [0, 'data'],
  [2, 'dictionary'],
  [3, 'data-v2'],
])

/** Throws a RangeError for a page of an unknown kind or with impossible sizes. */
export function pageHeader(struct: ThriftStruct): PageHeader {
  const kind = kinds.get(size(struct, 1))
  if (kind === undefined) throw new RangeError('it has a page of an unknown kind')
  const inner = struct.get({ data: 5, dictionary: 7, 'data-v2': 8 }[kind])
  if (!(inner instanceof Map)) throw new RangeError('a page has no header of its kind')
  const encoding = encodings.get(size(inner, kind === 'data-v2' ? 4 : 2))
  if (encoding === undefined)
    throw new RangeError('a page has an encoding that is not read here; write the file with another one')
  const header = {
    kind,
    expandedBytes: size(struct, 2),
    compressedBytes: size(struct, 3),
    values: size(inner, 1),
    encoding,
  }
  if (kind !== 'data-v2') return header
  const compressed = inner.get(7) !== false
  const v2 = { nulls: size(inner, 2), definitionBytes: size(inner, 5), repetitionBytes: size(inner, 6) }
  const levels = v2.definitionBytes + v2.repetitionBytes
  if (v2.nulls > header.values || levels > Math.min(header.compressedBytes, header.expandedBytes))
    throw new RangeError('the sizes in a page header contradict each other')
  return { ...header, v2: { ...v2, compressed } }
}

function size(struct: ThriftStruct, field: number): number {
  const value: ThriftValue | undefined = struct.get(field)
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new RangeError('a page header lacks a size')
  return value
}

/** Expands a page, whose sizes have been found acceptable, and checks that its runs give no more values than it has. */
export function checkPage(bytes: Uint8Array, header: PageHeader, column: ColumnShape): void {
  if (header.kind === 'dictionary') {
    if (header.values > 8 * header.expandedBytes)
      throw new RangeError('a dictionary has more values than bytes')
  } else if (header.v2 !== undefined) {
    const { repetitionBytes, definitionBytes, compressed } = header.v2
    const levels = repetitionBytes + definitionBytes
    if (column.maxRepetition > 0) checkRuns(bytes, 0, widthOf(column.maxRepetition), header.values)
    if (column.maxDefinition > 0)
      checkRuns(bytes, repetitionBytes, widthOf(column.maxDefinition), header.values)
    const rest = bytes.subarray(levels)
    const page = compressed ? expand(rest, header.expandedBytes - levels, column) : rest
    checkValues(page, 0, header, column)
  } else {
    const page = expand(bytes, header.expandedBytes, column)
    let offset = 0
    if (column.maxRepetition > 0)
      offset = checkLevels(page, offset, widthOf(column.maxRepetition), header.values)
    if (column.maxDefinition > 0)
      offset = checkLevels(page, offset, widthOf(column.maxDefinition), header.values)
    checkValues(page, offset, header, column)
  }
}

function expand(bytes: Uint8Array, length: number, { codec }: ColumnShape): Uint8Array {
  if (codec === 'UNCOMPRESSED') return bytes
  const decompress = codecs[codec]
  if (decompress === undefined) throw new RangeError(`its compression ${codec} is not read here`)
  return decompress(bytes, length)
}

/** Levels of the first page version: a length of four bytes, then the runs. */
function checkLevels(page: Uint8Array, offset: number, width: number, values: number): number {
  if (offset + 4 > page.length) throw new RangeError('a page ends before its levels')
  const length = viewOf(page).getUint32(offset, true)
  if (length > page.length - offset - 4) throw new RangeError('the levels of a page are longer than the page')
  checkRuns(page, offset + 4, width, values)
  return offset + 4 + length
}

/** At most as many values as the header says; there are fewer where some are null. */
function checkValues(
  page: Uint8Array,
  offset: number,
  { encoding, values }: PageHeader,
  { isBoolean }: ColumnShape,
): void {
  if (encoding === 'rle' && isBoolean) checkLevels(page, offset, 1, values)
  // A page without bits is one value, repeated; of a page without values nothing is read.
  else if (encoding === 'dictionary' || encoding === 'rle')
    checkRuns(page, offset + 1, page[offset] ?? 0, values)
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function widthOf(level: number): number {
  return 32 - Math.clz32(level)
}
