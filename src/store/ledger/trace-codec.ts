import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Trace } from '../../execution/trace/trace.ts'

/** The start of every zstd frame; JSON never starts like this. */
const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/** Compressing less than this saves next to nothing. */
const worthwhile = 512

/** We never write larger traces. */
const largestTrace = 256 * 1024 * 1024

/** Compact JSON, compressed if that is shorter. */
export function encodeTrace(trace: Trace): Uint8Array {
  const json = Buffer.from(JSON.stringify(trace))
  if (json.length < worthwhile) return json
  const compressed = zstdCompressSync(json, { params: { [constants.ZSTD_c_compressionLevel]: 3 } })
  return compressed.length < json.length ? compressed : json
}

export function decodeTrace(bytes: Uint8Array): Trace {
  const isCompressed = zstdMagic.equals(bytes.subarray(0, zstdMagic.length))
  const json = isCompressed
    ? zstdDecompressSync(bytes, { maxOutputLength: largestTrace })
    : Buffer.from(bytes)
  return JSON.parse(json.toString()) as Trace
}
