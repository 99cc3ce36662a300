// Arrays in PostgreSQL's binary format. The text format would escape every quote in JSON and every byte of a trace.

export const textArray = (values: readonly string[]): Buffer =>
  arrayOf(
    25,
    values.map((value) => Buffer.from(value)),
  )

export const bytesArray = (values: readonly Uint8Array[]): Buffer => arrayOf(17, values)

/** Undefined becomes null. */
export const bigintArray = (values: readonly (number | undefined)[]): Buffer =>
  arrayOf(
    20,
    values.map((value) => {
      if (value === undefined) return undefined
      const bytes = Buffer.alloc(8)
      bytes.writeBigInt64BE(BigInt(value))
      return bytes
    }),
  )

export const floatArray = (values: readonly number[]): Buffer =>
  arrayOf(
    701,
    values.map((value) => {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleBE(value)
      return bytes
    }),
  )

/** `type` is the element type's object id. */
function arrayOf(type: number, values: readonly (Uint8Array | undefined)[]): Buffer {
  const header = int32(values.length === 0 ? 0 : 1, values.includes(undefined) ? 1 : 0, type)
  if (values.length === 0) return header
  const parts = values.flatMap((value) => (value === undefined ? [int32(-1)] : [int32(value.length), value]))
  return Buffer.concat([header, int32(values.length, 1), ...parts])
}

function int32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeInt32BE(value, 4 * index)
  return bytes
}
