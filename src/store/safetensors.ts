import { fieldName, findJsonFault } from '../library/json-fault.ts'
import { Problem } from '../problem.ts'

// The safetensors format: 8 bytes of header length (little-endian), a JSON header, then the raw data. Typed arrays
// are used in the machine's byte order, which is little-endian wherever Node 24 is released for general use.

const elements = {
  F32: { bytes: 4, from: (buffer: ArrayBuffer) => new Float32Array(buffer) },
  F64: { bytes: 8, from: (buffer: ArrayBuffer) => new Float64Array(buffer) },
  I64: { bytes: 8, from: (buffer: ArrayBuffer) => new BigInt64Array(buffer) },
}

type TensorData = Float32Array | Float64Array | BigInt64Array

export interface StoredTensor {
  readonly shape: readonly number[]
  /** The array's type is the tensor's: F32, F64 or I64. */
  readonly data: TensorData
}

export interface TensorFile {
  readonly tensors: ReadonlyMap<string, StoredTensor>
  /** The `__metadata__` of the header: text only. */
  readonly metadata: ReadonlyMap<string, string>
}

type ElementType = keyof typeof elements

interface Entry {
  readonly name: string
  readonly type: ElementType
  readonly shape: readonly number[]
  readonly begin: number
  readonly end: number
}

const metadataName = '__metadata__'
const lengthBytes = 8
/** A header of ours has a few kilobytes; anything beyond this is damage, not a model. */
const maxHeaderBytes = 16 * 1024 * 1024

/** Reads strictly: what the reference implementation refuses is refused, with the file and the tensor in the message. */
export function parseSafetensors(bytes: Uint8Array, file: string): TensorFile {
  const refuse = (problem: string): never => {
    throw new Problem(`${file} is not a valid safetensors file: ${problem}.`)
  }
  if (bytes.length < lengthBytes) refuse(`it has ${bytes.length} bytes, too few for a header`)
  const headerBytes = new DataView(bytes.buffer, bytes.byteOffset, lengthBytes).getBigUint64(0, true)
  if (headerBytes > maxHeaderBytes) {
    refuse(`its header claims ${headerBytes} bytes; at most ${maxHeaderBytes} are allowed`)
  }
  const dataStart = lengthBytes + Number(headerBytes)
  if (dataStart > bytes.length) {
    refuse(
      `its header claims ${headerBytes} bytes, but the file has ${bytes.length - lengthBytes} after it began`,
    )
  }
  const header = parseHeader(bytes.subarray(lengthBytes, dataStart), refuse)
  const metadata = readMetadata(header.get(metadataName), refuse)
  header.delete(metadataName)
  const entries = [...header].map(([name, description]) => readEntry(name, description, refuse))
  assertCovered(entries, bytes.length - dataStart, refuse)
  const tensors = entries.map(({ name, type, shape, begin, end }): [string, StoredTensor] => {
    // A copy: the data need not be aligned in the file.
    const { buffer } = Uint8Array.from(bytes.subarray(dataStart + begin, dataStart + end))
    return [name, { shape, data: elements[type].from(buffer) }]
  })
  return { tensors: new Map(tensors), metadata }
}

/**
 * Writes tensors as the reference implementation does: wider types first, then by name, the header padded with spaces
 * so that the data starts at a multiple of 8. Equal content gives equal bytes, whatever the order of the maps.
 */
export function serializeSafetensors({ tensors, metadata }: TensorFile): Uint8Array<ArrayBuffer> {
  const header: [string, unknown][] = []
  if (metadata.size > 0) header.push([metadataName, Object.fromEntries(sortedByName(metadata))])
  const ordered = sortedByName(tensors).sort(([, a], [, b]) => widthOf(b) - widthOf(a))
  let end = 0
  for (const [name, tensor] of ordered) {
    const size = sizeOf(tensor.shape)
    if (name === metadataName || size !== tensor.data.length) {
      throw new RangeError(
        name === metadataName
          ? `No tensor may be called ${metadataName}.`
          : `Tensor '${name}' has ${tensor.data.length} values, but its shape [${tensor.shape}] has ${size}.`,
      )
    }
    const begin = end
    end += tensor.data.byteLength
    header.push([name, { dtype: typeOf(tensor.data), shape: tensor.shape, data_offsets: [begin, end] }])
  }
  // Built by hand, entry by entry: an object would put names that look like numbers first.
  const json = `{${header.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`
  const text = new TextEncoder().encode(json)
  const dataStart = lengthBytes + Math.ceil(text.length / 8) * 8
  const bytes = new Uint8Array(dataStart + end).fill(0x20, lengthBytes, dataStart)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(dataStart - lengthBytes), true)
  bytes.set(text, lengthBytes)
  let at = dataStart
  for (const [, { data }] of ordered) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at)
    at += data.byteLength
  }
  return bytes
}

type Refuse = (problem: string) => never

function parseHeader(bytes: Uint8Array, refuse: Refuse): Map<string, unknown> {
  let text = ''
  let header: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    header = JSON.parse(text)
  } catch (error) {
    refuse(`its header is not JSON (${error instanceof Error ? error.message : error})`)
  }
  if (!isRecord(header) || !text.startsWith('{')) return refuse('its header is not a JSON object')
  const fault = findJsonFault(text)
  if (fault !== undefined)
    refuse(
      fault.kind === 'repeated'
        ? `its header has '${fault.path.at(-1)}' twice`
        : `its header holds ${fault.kind} at ${fieldName(fault.path)}`,
    )
  return new Map(Object.entries(header))
}

function readMetadata(value: unknown, refuse: Refuse): Map<string, string> {
  if (value === undefined) return new Map()
  if (!isRecord(value)) return refuse(`its ${metadataName} is not an object of texts`)
  return new Map(
    Object.entries(value).map(([key, text]) => {
      if (typeof text !== 'string') return refuse(`'${key}' of its ${metadataName} is not a text`)
      return [key, text]
    }),
  )
}

function readEntry(name: string, description: unknown, refuseFile: Refuse): Entry {
  const refuse: Refuse = (problem) => refuseFile(`tensor '${name}' ${problem}`)
  if (!isRecord(description)) return refuse('has no description')
  const { dtype, shape, data_offsets: offsets, ...rest } = description
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) return refuse(`has an unknown field '${unknown}'`)
  if (!isElementType(dtype)) {
    return refuse(`has type ${brief(dtype)}; known are ${Object.keys(elements).join(', ')}`)
  }
  if (!isCounts(shape)) return refuse(`has shape ${brief(shape)}, not a list of sizes`)
  if (!isCounts(offsets) || offsets.length !== 2) {
    return refuse(`has data_offsets ${brief(offsets)}, not a begin and an end`)
  }
  const [begin, end] = offsets as [number, number]
  const size = sizeOf(shape) * elements[dtype].bytes
  if (end - begin !== size) {
    return refuse(
      `has data from byte ${begin} to ${end}, but ${dtype} of shape [${shape}] takes ${size} bytes`,
    )
  }
  return { name, type: dtype, shape, begin, end }
}

/** The tensors must follow each other without a gap or an overlap, up to the end of the file. */
function assertCovered(entries: readonly Entry[], dataBytes: number, refuse: Refuse): void {
  let covered = 0
  for (const { name, begin, end } of entries.toSorted((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin < covered) refuse(`tensor '${name}' begins at byte ${begin}, inside the one before it`)
    if (begin > covered) refuse(`bytes ${covered} to ${begin}, before tensor '${name}', belong to no tensor`)
    if (end > dataBytes)
      refuse(`tensor '${name}' ends at byte ${end}, but there are ${dataBytes} bytes of data`)
    covered = end
  }
  if (covered < dataBytes) refuse(`${dataBytes - covered} bytes at its end belong to no tensor`)
}

function sortedByName<T>(named: ReadonlyMap<string, T>): [string, T][] {
  return [...named].sort(([a], [b]) => (a < b ? -1 : 1))
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1)
}

function typeOf(data: TensorData): ElementType {
  if (data instanceof Float32Array) return 'F32'
  return data instanceof Float64Array ? 'F64' : 'I64'
}

function widthOf({ data }: StoredTensor): number {
  return data.BYTES_PER_ELEMENT
}

/** As JSON, but short: a damaged header may hold anything. */
function brief(value: unknown): string {
  const json = JSON.stringify(value) ?? 'none'
  return json.length > 60 ? `${json.slice(0, 60)}…` : json
}

function isElementType(value: unknown): value is ElementType {
  return typeof value === 'string' && Object.hasOwn(elements, value)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((entry) => Number.isSafeInteger(entry) && entry >= 0)
}
