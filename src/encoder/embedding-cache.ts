import { hash } from 'node:crypto'
import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { FrozenTextEncoder } from './text-encoder.ts'

/** `$XDG_CACHE_HOME/magic/embeddings`. */
export function embeddingCacheFolder({ XDG_CACHE_HOME }: NodeJS.ProcessEnv): string {
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'magic', 'embeddings')
}

type Entry = readonly [key: string, vector: Float32Array]

// About 256 KiB, which Node writes in one system call.
const entriesPerWrite = 128

/**
 * Adds a disk cache to an encoder: one append-only file per encoder. A cache that cannot be read or written only
 * makes encoding slower; `onProblem` is called once.
 */
export function cachedEncoder(
  encoder: FrozenTextEncoder,
  folder: string,
  onProblem: (problem: string) => void = () => {},
): FrozenTextEncoder {
  const { name, fingerprint, dims } = encoder
  const path = join(folder, `${fingerprint}.lines`)
  let loaded: Promise<Map<string, Float32Array>> | undefined
  let isWritable = true
  const reportOnce = (error: unknown) => {
    if (isWritable) onProblem(`Embeddings are not cached: ${(error as Error).message}`)
    isWritable = false
  }
  const load = async () => {
    const text = await readFile(path, 'latin1').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') reportOnce(error)
      return ''
    })
    return new Map(text.split('\n').flatMap((line) => entryOf(line, dims)))
  }
  const save = async (entries: readonly Entry[]) => {
    if (!isWritable || entries.length === 0) return
    try {
      await mkdir(folder, { recursive: true })
      // Whole entries per write, so that entries of other processes cannot end up in between.
      for (let start = 0; start < entries.length; start += entriesPerWrite)
        await appendFile(
          path,
          entries
            .slice(start, start + entriesPerWrite)
            .map(lineOf)
            .join(''),
        )
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
      const missing = new Map(texts.map((text, index) => [keys[index]!, text]))
      for (const key of keys) if (known.has(key)) missing.delete(key)
      const vectors = missing.size === 0 ? [] : await encoder.encode([...missing.values()])
      const fresh = [...missing.keys()].map((key, index): Entry => [key, vectors[index]!])
      for (const [key, vector] of fresh) known.set(key, vector)
      await save(fresh)
      // Copies, because callers may change their vectors.
      return keys.map((key) => known.get(key)!.slice())
    },
  }
}

/** A hash of the UTF-16 code units, because different texts with broken surrogate pairs would be equal in UTF-8. */
function keyOf(text: string): string {
  return hash('sha256', Buffer.from(text, 'utf16le'), 'hex')
}

/** Key, vector in base64 and CRC-32. It starts with a line end, because the previous line may be incomplete. */
function lineOf([key, vector]: Entry): string {
  const { buffer, byteOffset, byteLength } = vector
  const body = `${key} ${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}`
  return `\n${body} ${crc32(body)}\n`
}

/** The entry of a line; empty if the line is damaged. */
function entryOf(line: string, dims: number): Entry[] {
  const [key, vector, check] = line.split(' ') as [string, string, string]
  if (check !== String(crc32(`${key} ${vector}`))) return []
  const bytes = Uint8Array.from(Buffer.from(vector, 'base64'))
  return bytes.length === dims * 4 ? [[key, new Float32Array(bytes.buffer)]] : []
}
