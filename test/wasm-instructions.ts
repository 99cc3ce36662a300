// Walks the functions of a WebAssembly binary, instruction by instruction: enough of the format to know
// every opcode that a compiler of plain, SIMD and bulk-memory code emits. It refuses unknown opcodes, so
// nothing is skipped.

/** The opcodes of all functions: the first byte, or for a prefixed instruction `prefix << 16 | opcode`. */
export function instructionsOf(binary: Uint8Array): Set<number> {
  const reader = new Reader(binary)
  if (reader.word() !== 0x6d736100 || reader.word() !== 1) throw new Error('This is no WebAssembly module.')
  const opcodes = new Set<number>()
  while (!reader.done) {
    const section = reader.byte()
    const size = reader.leb()
    const end = reader.at + size
    if (section === codeSection) {
      for (let functions = reader.leb(); functions > 0; functions -= 1) walkFunction(reader, opcodes)
      if (reader.at !== end)
        throw new Error(`The code section ends at ${end}, its functions at ${reader.at}.`)
    }
    reader.at = end
  }
  return opcodes
}

/** Relaxed SIMD begins at 0x100 of the vector prefix: its results may differ between processors. */
export function isRelaxedSimd(opcode: number): boolean {
  return opcode >> 16 === vectorPrefix && (opcode & 0xffff) >= 0x100
}

export function isSimd(opcode: number): boolean {
  return opcode >> 16 === vectorPrefix
}

const codeSection = 10
const bulkPrefix = 0xfc
const vectorPrefix = 0xfd

function walkFunction(reader: Reader, opcodes: Set<number>): void {
  const size = reader.leb()
  const end = reader.at + size
  for (let groups = reader.leb(); groups > 0; groups -= 1) {
    reader.leb()
    reader.byte()
  }
  while (reader.at < end) opcodes.add(readInstruction(reader))
  if (reader.at !== end) throw new Error(`A function ends at ${end}, its instructions at ${reader.at}.`)
}

function readInstruction(reader: Reader): number {
  const opcode = reader.byte()
  if (opcode === bulkPrefix) return (opcode << 16) | readBulk(reader)
  if (opcode === vectorPrefix) return (opcode << 16) | readVector(reader)
  if (between(opcode, 0x02, 0x04))
    reader.leb() // block, loop, if: a type
  else if (between(opcode, 0x0c, 0x0d) || opcode === 0x10)
    reader.leb() // br, br_if, call
  else if (opcode === 0x0e)
    for (let targets = reader.leb(); targets >= 0; targets -= 1) reader.leb() // br_table
  else if (between(opcode, 0x20, 0x24))
    reader.leb() // locals and globals
  else if (between(opcode, 0x28, 0x3e)) reader.memoryArgument()
  else if (between(opcode, 0x3f, 0x42))
    reader.leb() // memory.size, memory.grow, i32.const, i64.const
  else if (opcode === 0x43) reader.at += 4
  else if (opcode === 0x44) reader.at += 8
  else if (![0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b].includes(opcode) && !between(opcode, 0x45, 0xc4))
    throw new Error(`Opcode ${opcode.toString(16)} at byte ${reader.at - 1} is not known here.`)
  return opcode
}

function readBulk(reader: Reader): number {
  const opcode = reader.leb()
  if (opcode === 10) reader.at += 2
  else if (opcode === 11) reader.at += 1
  else if (opcode > 7) throw new Error(`Opcode fc ${opcode} is not known here.`)
  return opcode
}

function readVector(reader: Reader): number {
  const opcode = reader.leb()
  if (opcode <= 11 || between(opcode, 84, 93)) reader.memoryArgument()
  if (opcode === 12 || opcode === 13) reader.at += 16
  if (between(opcode, 21, 34) || between(opcode, 84, 91)) reader.at += 1
  return opcode
}

function between(value: number, from: number, to: number): boolean {
  return value >= from && value <= to
}

class Reader {
  at = 0
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get done(): boolean {
    return this.at >= this.#bytes.length
  }

  byte(): number {
    const byte = this.#bytes[this.at]
    if (byte === undefined) throw new Error('The module ends in the middle of something.')
    this.at += 1
    return byte
  }

  word(): number {
    return this.byte() | (this.byte() << 8) | (this.byte() << 16) | (this.byte() << 24)
  }

  /** A LEB128 number. Only its length matters if it is signed or does not fit 32 bits. */
  leb(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte()
      if (shift < 32) value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
  }

  memoryArgument(): void {
    this.leb()
    this.leb()
  }
}
