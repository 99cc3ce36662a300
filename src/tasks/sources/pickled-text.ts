// LiveCodeBench ships JSON text as a Python pickle. A pickle is a program; this reads only the few instructions that
// describe one text and rejects all others, so nothing in a file can run.

/** Instructions that do not affect a single text, with the length of their argument. */
const skipped = new Map([
  [0x95, 8], // FRAME: only a hint for buffering; long texts lie outside the frames
  [0x94, 0], // MEMOIZE
  [0x71, 1], // BINPUT
  [0x72, 4], // LONG_BINPUT
])

/** Reads a pickle of exactly one `str`. Protocols 1 to 5. */
export function readPickledText(pickle: Buffer): string {
  let at = 0
  let text: string | undefined
  const take = (count: number): Buffer => {
    if (count > pickle.length - at) throw new SyntaxError('the pickle ends too early')
    at += count
    return pickle.subarray(at - count, at)
  }
  const takeText = (length: number | bigint) => {
    if (text !== undefined) throw new SyntaxError('the pickle holds more than one text')
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(take(Number(length)))
  }
  for (;;) {
    const opcode = take(1)[0]!
    const length = skipped.get(opcode)
    if (length !== undefined) take(length)
    // PROTO
    else if (opcode === 0x80) {
      if (take(1)[0]! > 5) throw new SyntaxError('the pickle has an unknown protocol')
    }
    // SHORT_BINUNICODE, BINUNICODE and BINUNICODE8
    else if (opcode === 0x8c) takeText(take(1)[0]!)
    else if (opcode === 0x58) takeText(take(4).readUInt32LE())
    else if (opcode === 0x8d) takeText(take(8).readBigUInt64LE())
    // STOP
    else if (opcode === 0x2e) {
      if (text === undefined) throw new SyntaxError('the pickle holds no text')
      if (at !== pickle.length) throw new SyntaxError('something follows the pickle')
      return text
    } else throw new SyntaxError(`the pickle holds more than a text (instruction 0x${opcode.toString(16)})`)
  }
}
