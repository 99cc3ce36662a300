// Thrift's compact protocol, as far as Parquet uses it. The library's own parser sets aside room for as many list items as
// a damaged or hostile length says; this one looks first whether there are bytes for them.

export type ThriftValue = boolean | number | Uint8Array | readonly ThriftValue[] | ThriftStruct
export type ThriftStruct = ReadonlyMap<number, ThriftValue>

const deepest = 24

/** Reads one struct. Throws a RangeError where the bytes do not hold one. */
export function readThrift(bytes: Uint8Array, start = 0): { struct: ThriftStruct; end: number } {
  const reader = new ThriftReader(bytes, start)
  return { struct: reader.struct(0), end: reader.offset }
}

class ThriftReader {
  offset: number
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes
    this.offset = start
  }

  struct(depth: number): ThriftStruct {
    if (depth > deepest) throw new RangeError('its header is nested too deeply')
    const fields = new Map<number, ThriftValue>()
    let id = 0
    for (let head = this.#byte(); (head & 15) !== 0; head = this.#byte()) {
      id = head >> 4 === 0 ? this.#zigzag() : id + (head >> 4)
      fields.set(id, this.#value(head & 15, depth))
    }
    return fields
  }

  #value(type: number, depth: number): ThriftValue {
    switch (type) {
      case 1:
        return true
      case 2:
        return false
      case 3:
        return this.#byte()
      case 4:
      case 5:
      case 6:
        return this.#zigzag()
      case 7:
        return this.#take(8)
      case 8:
        return this.#take(this.#varint())
      case 9:
        return this.#list(depth)
      case 12:
        return this.struct(depth + 1)
      default:
        throw new RangeError(`its header has a field of the unknown type ${type}`)
    }
  }

  #list(depth: number): readonly ThriftValue[] {
    if (depth > deepest) throw new RangeError('its header is nested too deeply')
    const head = this.#byte()
    const count = head >> 4 === 15 ? this.#varint() : head >> 4
    // Every item takes a byte at least.
    if (count > this.#bytes.length - this.offset)
      throw new RangeError(`its header has a list of ${count} items but no bytes for them`)
    const type = head & 15
    const values: ThriftValue[] = []
    for (let item = 0; item < count; item += 1)
      values.push(type === 1 || type === 2 ? this.#byte() === 1 : this.#value(type, depth + 1))
    return values
  }

  #take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.offset) throw new RangeError('its header ends too early')
    this.offset += length
    return this.#bytes.subarray(this.offset - length, this.offset)
  }

  #byte(): number {
    const byte = this.#bytes[this.offset]
    if (byte === undefined) throw new RangeError('its header ends too early')
    this.offset += 1
    return byte
  }

  #varint(): number {
    let value = 0
    for (let factor = 1; factor <= 2 ** 63; factor *= 128) {
      const byte = this.#byte()
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
    throw new RangeError('its header has a number of more than 64 bits')
  }

  /** Above 2⁵³ not exact, which matters to no check. */
  #zigzag(): number {
    const value = this.#varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
}
