// The part of Thrift's compact protocol that Parquet uses. The library's own parser allocates as many list items as a
// damaged or hostile length claims; this one first checks that there are bytes for them.

/** Numbers and nested structs by field id; other fields are skipped. */
export type ThriftStruct = ReadonlyMap<number, number | ThriftStruct>

const deepest = 24

/** Reads one struct. Throws a RangeError if the bytes do not contain one. */
export function readThrift(bytes: Uint8Array, start = 0): { struct: ThriftStruct; end: number } {
  let offset = start

  const byte = (): number => {
    const next = bytes[offset]
    if (next === undefined) throw new RangeError('its header ends too early')
    offset += 1
    return next
  }
  const skip = (length: number): undefined => {
    if (length > bytes.length - offset) throw new RangeError('its header ends too early')
    offset += length
  }
  const varint = (): number => {
    let value = 0
    for (let factor = 1; factor <= 2 ** 63; factor *= 128) {
      const next = byte()
      value += (next & 127) * factor
      if (next < 128) return value
    }
    throw new RangeError('its header has a number of more than 64 bits')
  }
  // Not exact above 2⁵³, which no check depends on.
  const zigzag = (): number => {
    const value = varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
  const skipList = (depth: number): undefined => {
    const head = byte()
    const count = head >> 4 === 15 ? varint() : head >> 4
    // Every item takes at least one byte.
    if (count > bytes.length - offset)
      throw new RangeError(`its header has a list of ${count} items but no bytes for them`)
    const type = head & 15
    for (let item = 0; item < count; item += 1) {
      if (type === 1 || type === 2) byte()
      else readValue(type, depth + 1)
    }
  }
  const readValue = (type: number, depth: number): number | ThriftStruct | undefined => {
    if (depth > deepest) throw new RangeError('its header is nested too deeply')
    if (type === 1 || type === 2) return type === 1 ? 1 : 0
    if (type === 3) return byte()
    if (type >= 4 && type <= 6) return zigzag()
    if (type === 7) return skip(8)
    if (type === 8) return skip(varint())
    if (type === 9) return skipList(depth)
    if (type === 12) return readStruct(depth + 1)
    throw new RangeError(`its header has a field of the unknown type ${type}`)
  }
  const readStruct = (depth: number): ThriftStruct => {
    const fields = new Map<number, number | ThriftStruct>()
    let id = 0
    for (let head = byte(); (head & 15) !== 0; head = byte()) {
      id = head >> 4 === 0 ? zigzag() : id + (head >> 4)
      const value = readValue(head & 15, depth)
      if (value !== undefined) fields.set(id, value)
    }
    return fields
  }

  return { struct: readStruct(0), end: offset }
}
