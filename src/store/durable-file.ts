import { createHash, type Hash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { Problem } from '../problem.ts'
import { DiskError } from './disk-error.ts'

/** Writes a file atomically: whole or not at all, even after a power loss. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const unfinished = `${path}.unfinished`
  const bytes = Buffer.from(content)
  onDisk(path, bytes.length, () => {
    try {
      writeFileSync(unfinished, bytes, { flush: true })
      renameSync(unfinished, path)
    } catch (error) {
      // Report the first failure, not this one.
      try {
        rmSync(unfinished, { force: true })
      } catch {}
      throw error
    }
    syncFolder(dirname(path))
  })
}

/** Size and digest of a file's content. */
export const fileDigestSchema = z.object({ bytes: z.int().nonnegative(), sha256: z.string() })

export type FileDigest = z.output<typeof fileDigestSchema>

export function digestOf(content: Uint8Array | string): FileDigest {
  return { bytes: Buffer.byteLength(content), sha256: createHash('sha256').update(content).digest('hex') }
}

/** An append-only file of JSON lines. Once `append` returns, the line is on disk. */
export class LineFile {
  readonly path: string
  readonly #file: number
  readonly #hash: Hash = createHash('sha256')
  #bytes = 0

  /** Cuts off an incomplete last line left by a killed writer, and everything from the first line that `isStale`. */
  constructor(path: string, isStale: (line: unknown) => boolean = () => false) {
    this.path = path
    const isNew = !existsSync(path)
    this.#file = onDisk(path, 0, () => openSync(path, 'a+'))
    try {
      if (isNew) onDisk(path, 0, () => syncFolder(dirname(path)))
      const content = readFileSync(path)
      let valid = 0
      for (const { record, end } of lines(path, content)) {
        if (isStale(record)) break
        valid = end
      }
      onDisk(path, 0, () => ftruncateSync(this.#file, valid))
      this.#count(content.subarray(0, valid))
    } catch (error) {
      closeSync(this.#file)
      throw error
    }
  }

  /** Digest of the whole current content. */
  get digest(): FileDigest {
    return { bytes: this.#bytes, sha256: this.#hash.copy().digest('hex') }
  }

  append(record: unknown): void {
    this.note(record)
    this.sync()
  }

  /** Does not wait for the disk: the line survives a kill, but a power loss only after the next `sync`. */
  note(record: unknown): void {
    const bytes = Buffer.from(`${JSON.stringify(record)}\n`)
    onDisk(this.path, bytes.length, () => {
      try {
        writeFileSync(this.#file, bytes)
      } catch (error) {
        // Half a line would damage the next one, too.
        ftruncateSync(this.#file, this.#bytes)
        throw error
      }
    })
    this.#count(bytes)
  }

  sync(): void {
    onDisk(this.path, 0, () => fsyncSync(this.#file))
  }

  close(): void {
    closeSync(this.#file)
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #count(bytes: Uint8Array): void {
    this.#hash.update(bytes)
    this.#bytes += bytes.length
  }
}

/** The complete records of a line file. It may be read while the last one is being written, or before the first. */
export function readLines(path: string): unknown[] {
  if (!existsSync(path)) return []
  return [...lines(path, readFileSync(path))].map(({ record }) => record)
}

/** Skips an unterminated last line, and a last line that is not a record: a power loss may leave zeros there. */
function* lines(path: string, bytes: Buffer): Generator<{ record: unknown; end: number }> {
  for (let start = 0, line = 1; ; line += 1) {
    const newline = bytes.indexOf(10, start)
    if (newline === -1) return
    const end = newline + 1
    const record = parse(bytes.toString('utf8', start, newline))
    if (record === undefined) {
      if (bytes.indexOf(10, end) === -1) return
      throw new Problem(
        `Line ${line} of ${path} is damaged. Restore the file from a copy, or delete the line.`,
      )
    }
    yield { record, end }
    start = end
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

export function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function onDisk<Result>(path: string, bytes: number, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error
    throw new DiskError(path, bytes, error as NodeJS.ErrnoException)
  }
}
