// Frames between the supervisor and the runner in a sandbox: nonce (16 bytes), kind (1), length (4, big-endian),
// payload. The counterpart is `python/frames.py`.

const nonceBytes = 16
const headerBytes = nonceBytes + 1 + 4
const largestPayload = 32 * 2 ** 20

export interface Frame {
  readonly nonce: Buffer
  readonly kind: string
  readonly payload: Buffer
}

export function encodeFrame(nonce: Buffer, kind: string, payload: string): Buffer {
  const body = Buffer.from(payload, 'utf8')
  const header = Buffer.alloc(headerBytes)
  nonce.copy(header)
  header.write(kind, nonceBytes, 'latin1')
  header.writeUInt32BE(body.length, nonceBytes + 1)
  return Buffer.concat([header, body])
}

/** Extracts frames from a byte stream. An absurd length ends the stream, since nothing after it can be trusted. */
export class FrameReader {
  #pending: Buffer[] = []
  #size = 0
  #needed = headerBytes

  /** Whether the stream is at a frame boundary. */
  get isEmpty(): boolean {
    return this.#size === 0
  }

  /** Returns the frames completed by this chunk, or undefined if the stream is invalid. */
  push(chunk: Buffer): Frame[] | undefined {
    this.#pending.push(chunk)
    this.#size += chunk.length
    const frames: Frame[] = []
    while (this.#size >= this.#needed) {
      const bytes = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending)
      const length = bytes.readUInt32BE(nonceBytes + 1)
      if (length > largestPayload) return undefined
      const end = headerBytes + length
      this.#pending = [bytes]
      if (bytes.length < end) {
        this.#needed = end
        break
      }
      frames.push({
        nonce: bytes.subarray(0, nonceBytes),
        kind: String.fromCharCode(bytes[nonceBytes]!),
        payload: bytes.subarray(headerBytes, end),
      })
      this.#pending = [bytes.subarray(end)]
      this.#size -= end
      this.#needed = headerBytes
    }
    return frames
  }
}
