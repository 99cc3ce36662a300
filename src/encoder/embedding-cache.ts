import { createHash } from 'node:crypto'
import { mkdir, open, readFile } from 'node:fs/promises'
import { endianness, homedir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { FrozenTextEncoder } from './text-encoder.ts'

/** `$XDG_CACHE_HOME/magic/embeddings`. */
export function embeddingCacheFolder({ XDG_CACHE_HOME }: NodeJS.ProcessEnv): string {
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'magic', 'embeddings')
}

/**
 * The same encoder with a cache on disk: one append-only file per encoder. A cache that cannot be read or written only
 * makes encoding slower; `onProblem` is called once.
 */
export function cachedEncoder(
  encoder: FrozenTextEncoder,
  folder: string,
  onProblem: (problem: string) => void = () => {},
): FrozenTextEncoder {
  const { name, fingerprint, dims } = encoder
  const path = join(folder, `${fingerprint}.vectors`)
  let loaded: Promise<Map<string, Float32Array>> | undefined
  let isWritable = true
  const reportOnce = (error: unknown) => {
    if (isWritable) onProblem(`Embeddings are not cached: ${(error as Error).message}`)
    isWritable = false
  }
  const load = async () => {
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') reportOnce(error)
      return Buffer.alloc(0)
    })
    return new Map(entriesOf(bytes, dims))
  }
  const save = async (entries: readonly (readonly [string, Float32Array])[]) => {
    if (!isWritable || entries.length === 0) return
    try {
      await mkdir(folder, { recursive: true })
      await using file = await open(path, 'a')
      // Append mode with whole entries per write: entries of other processes cannot end up in between.
      for (let start = 0; start < entries.length; start += entriesPerWrite)
        await file.write(Buffer.concat(entries.slice(start, start + entriesPerWrite).map(entryBytes)))
    } catch (error) {
      reportOnce(error)
    }
  }
  return {
    name,
    fingerprint,
    dims,
    encode: async (texts) => {
      loaded ??= load()
      const known = await loaded
      const keys = texts.map(keyOf)
      const missing = new Map(
        texts.flatMap((text, index) => (known.has(keys[index]!) ? [] : [[keys[index]!, text] as const])),
      )
      const vectors = missing.size === 0 ? [] : await encoder.encode([...missing.values()])
      const fresh = [...missing.keys()].map((key, index) => [key, vectors[index]!] as const)
      for (const [key, vector] of fresh) known.set(key, vector)
      await save(fresh)
      // Copies, because callers may change their vectors.
      return keys.map((key) => known.get(key)!.slice())
    },
  }
}

/** A hash of the UTF-16 code units: in UTF-8, different texts with broken surrogate pairs would become equal. */
function keyOf(text: string): string {
  return createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex')
}

// An entry: mark, SHA-256 of the text, vector as 32-bit floats, CRC-32 of all that; little-endian.
const mark = Buffer.from('MGEV')
const keyBytes = 32
const checkBytes = 4
const entriesPerWrite = 256

function entryBytes([key, vector]: readonly [string, Float32Array]): Buffer {
  const body = Buffer.concat([mark, Buffer.from(key, 'hex'), littleEndian(vector)])
  const check = Buffer.alloc(checkBytes)
  check.writeUInt32LE(crc32(body))
  return Buffer.concat([body, check])
}

/** Skips damaged entries, such as one that a killed process left half written, up to the next mark. */
function* entriesOf(bytes: Buffer, dims: number): Generator<[string, Float32Array]> {
  const bodyLength = mark.length + keyBytes + dims * 4
  let position = bytes.indexOf(mark)
  while (position >= 0 && position + bodyLength + checkBytes <= bytes.length) {
    const body = bytes.subarray(position, position + bodyLength)
    const isWhole = crc32(body) === bytes.readUInt32LE(position + bodyLength)
    if (isWhole) {
      const vector = Buffer.from(body.subarray(mark.length + keyBytes))
      const key = body.toString('hex', mark.length, mark.length + keyBytes)
      yield [key, floatsOf(vector)]
    }
    position = bytes.indexOf(mark, position + (isWhole ? bodyLength + checkBytes : 1))
  }
}

function littleEndian(vector: Float32Array): Buffer {
  const bytes = Buffer.from(Float32Array.from(vector).buffer)
  return endianness() === 'LE' ? bytes : bytes.swap32()
}

function floatsOf(bytes: Buffer): Float32Array {
  const own = new Uint8Array(bytes.length)
  own.set(endianness() === 'LE' ? bytes : bytes.swap32())
  return new Float32Array(own.buffer)
}
