// LiveCodeBench ships JSON text as a Python pickle. A pickle is a program; this reads the few instructions that describe
// one text and refuses all others, so nothing in a file can run.

/** What a pickle of exactly one `str` holds. Protocols 1 to 5. */
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
    switch (opcode) {
      case 0x80: // PROTO
        if (take(1)[0]! > 5) throw new SyntaxError('the pickle has an unknown protocol')
        break
      case 0x95: // FRAME: only a hint for buffering; long texts lie outside the frames
        take(8)
        break
      case 0x8c: // SHORT_BINUNICODE
        takeText(take(1)[0]!)
        break
      case 0x58: // BINUNICODE
        takeText(take(4).readUInt32LE())
        break
      case 0x8d: // BINUNICODE8
        takeText(take(8).readBigUInt64LE())
        break
      case 0x94: // MEMOIZE
        break
      case 0x71: // BINPUT
        take(1)
        break
      case 0x72: // LONG_BINPUT
        take(4)
        break
      case 0x2e: // STOP
        if (text === undefined) throw new SyntaxError('the pickle holds no text')
        if (at !== pickle.length) throw new SyntaxError('something follows the pickle')
        return text
      default:
        throw new SyntaxError(`the pickle holds more than a text (instruction 0x${opcode.toString(16)})`)
    }
  }
}
