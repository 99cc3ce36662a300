import { z } from 'zod'
import { fieldName, findJsonFault } from '../library/json-fault.ts'
import { Problem } from '../problem.ts'

// The safetensors format: 8 bytes of header length (little-endian), a JSON header, then the raw data. Typed arrays
// use the machine's byte order, which is little-endian on every platform Node 24 supports.

const arrays = { F32: Float32Array, F64: Float64Array, I64: BigInt64Array }

export interface StoredTensor {
  readonly shape: readonly number[]
  /** The array's type determines the tensor's: F32, F64 or I64. */
  readonly data: Float32Array | Float64Array | BigInt64Array
}

const metadataName = '__metadata__'
const lengthBytes = 8
/** Our headers have a few kilobytes; anything beyond this is damage. */
const maxHeaderBytes = 16 * 1024 * 1024

const count = z.int().nonnegative()
const descriptionSchema = z.strictObject({
  dtype: z.enum(['F32', 'F64', 'I64']),
  shape: z.array(count),
  data_offsets: z.tuple([count, count]),
})
const metadataSchema = z.record(z.string(), z.string()).optional()

/** Reads tensors by name. Rejects what the reference implementation rejects; metadata is checked and dropped. */
export function parseSafetensors(bytes: Uint8Array, file: string): Map<string, StoredTensor> {
  try {
    return tensorsIn(bytes)
  } catch (error) {
    throw new Problem(
      `${file} is not a valid safetensors file: ${(error as Error).message.replace(/\.?$/, '.')}`,
    )
  }
}

function tensorsIn(bytes: Uint8Array): Map<string, StoredTensor> {
  const { header, data } = split(bytes)
  const { [metadataName]: metadata, ...described } = header
  checked(metadataSchema, metadata, `its ${metadataName}`)
  const entries = Object.entries(described).map(([name, description]) => {
    const { dtype, shape, data_offsets } = checked(descriptionSchema, description, `tensor '${name}'`)
    const [begin, end] = data_offsets
    return { name, dtype, shape, begin, end }
  })
  const tensors = new Map<string, StoredTensor>()
  // Tensors must follow each other without gaps or overlaps, up to the end of the file.
  let covered = 0
  for (const { name, dtype, shape, begin, end } of entries.sort(
    (a, b) => a.begin - b.begin || a.end - b.end,
  )) {
    const size = sizeOf(shape) * arrays[dtype].BYTES_PER_ELEMENT
    if (end - begin !== size)
      throw new Error(
        `tensor '${name}' has data from byte ${begin} to ${end}, but ${dtype} of shape [${shape}] takes ${size} bytes`,
      )
    if (begin !== covered)
      throw new Error(
        `tensor '${name}' begins at byte ${begin}, not at ${covered}, where the one before ends`,
      )
    if (end > data.length)
      throw new Error(`tensor '${name}' ends at byte ${end}, but there are ${data.length} bytes of data`)
    // Copied, because the data may not be aligned in the file.
    tensors.set(name, { shape, data: new arrays[dtype](Uint8Array.from(data.subarray(begin, end)).buffer) })
    covered = end
  }
  if (covered < data.length) throw new Error(`${data.length - covered} bytes at its end belong to no tensor`)
  return tensors
}

function split(bytes: Uint8Array): { header: Record<string, unknown>; data: Uint8Array } {
  if (bytes.length < lengthBytes) throw new Error(`it has ${bytes.length} bytes, too few for a header`)
  const headerBytes = new DataView(bytes.buffer, bytes.byteOffset, lengthBytes).getBigUint64(0, true)
  const dataStart = lengthBytes + Number(headerBytes)
  if (headerBytes > maxHeaderBytes || dataStart > bytes.length)
    throw new Error(
      `its header claims ${headerBytes} bytes; the file has ${bytes.length}, and at most ${maxHeaderBytes} are allowed`,
    )
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const text = decoder.decode(bytes.subarray(lengthBytes, dataStart))
  const header = JSON.parse(text)
  if (!text.startsWith('{')) throw new Error('its header is not a JSON object')
  const fault = findJsonFault(text)
  if (fault !== undefined) throw new Error(`in its header ${fieldName(fault.path)} ${fault.problem}`)
  return { header, data: bytes.subarray(dataStart) }
}

function checked<Content>(schema: z.ZodType<Content>, value: unknown, what: string): Content {
  const { data, error } = schema.safeParse(value)
  if (error === undefined) return data
  const { path, message } = error.issues[0]!
  throw new Error(`${[what, ...path].join(', ')}: ${message}`)
}

/**
 * Writes tensors as the reference implementation does: wider types first, then by name, the header padded with spaces
 * so that the data starts at a multiple of 8. Equal content gives equal bytes, independent of the map's order.
 */
export function serializeSafetensors(tensors: ReadonlyMap<string, StoredTensor>): Uint8Array<ArrayBuffer> {
  const width = ({ data }: StoredTensor) => data.BYTES_PER_ELEMENT
  const ordered = [...tensors].sort(([a, one], [b, other]) => width(other) - width(one) || (a < b ? -1 : 1))
  let end = 0
  const header = ordered.map(([name, { shape, data }]) => {
    if (name === metadataName) throw new RangeError(`No tensor may be called ${metadataName}.`)
    const size = sizeOf(shape)
    if (size !== data.length)
      throw new RangeError(
        `Tensor '${name}' has ${data.length} values, but its shape [${shape}] has ${size}.`,
      )
    const begin = end
    end += data.byteLength
    const description = { dtype: typeOf(data), shape, data_offsets: [begin, end] }
    // Built entry by entry: an object would put number-like names first.
    return `${JSON.stringify(name)}:${JSON.stringify(description)}`
  })
  const text = new TextEncoder().encode(`{${header.join()}}`)
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

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1)
}

function typeOf(data: StoredTensor['data']): keyof typeof arrays {
  if (data instanceof Float32Array) return 'F32'
  return data instanceof Float64Array ? 'F64' : 'I64'
}
