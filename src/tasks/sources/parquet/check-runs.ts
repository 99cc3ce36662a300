/**
 * Checks that runs of Parquet's hybrid encoding (repeated and bit-packed values) give `count` values at most. The library
 * writes out a run as long as it says it is: a few bytes could fill the memory. Throws a RangeError.
 */
export function checkRuns(bytes: Uint8Array, start: number, width: number, count: number): void {
  if (width > 32) throw new RangeError(`a page has values of ${width} bits`)
  let offset = start
  let seen = 0
  while (seen < count && offset < bytes.length) {
    const run = readVarint(bytes, offset)
    offset = run.end
    const repeated = run.value % 2 === 0
    const length = Math.floor(run.value / 2) * (repeated ? 1 : 8)
    // The last group of eight may hold padding.
    if (length > count - seen + (repeated ? 0 : 7))
      throw new RangeError(`a page has a run of ${length} values where ${count - seen} are left`)
    offset += repeated ? Math.ceil(width / 8) : (length * width) / 8
    seen += length
  }
}

function readVarint(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[start + index]
    if (byte === undefined) throw new RangeError('a page ends within a run')
    value += (byte & 127) * 128 ** index
    if (byte < 128) return { value, end: start + index + 1 }
  }
  throw new RangeError('a page has a run of more than 2³¹ values')
}
