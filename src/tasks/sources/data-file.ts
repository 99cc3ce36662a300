// Reads a data file, gzipped or plain, under limits. Data files may be hostile: a zip bomb or an endless line must
// end in a message, not exhaust memory.
import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { TextDecoder } from 'node:util'
import { createGunzip } from 'node:zlib'
import { DataError } from './data-error.ts'

/** A file that was read, with a digest of its bytes on disk. */
export interface DataFile {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

const mebibyte = 2 ** 20
const gibibyte = 2 ** 30
const decoder = new TextDecoder('utf-8', { fatal: true })

export const defaultLimits = {
  /** Bytes on disk. */
  fileBytes: 4 * gibibyte,
  /** Bytes after decompression. */
  expandedBytes: 8 * gibibyte,
  /** Expanded size / compressed size. Only checked above 16 MiB, since small repetitive files compress well. */
  ratio: 200,
  rows: 5_000_000,
  lineBytes: 16 * mebibyte,
  /** For documents read as a whole. */
  documentBytes: 256 * mebibyte,
}

export type FileLimits = Readonly<typeof defaultLimits>

/** Passes the expanded bytes to `consume`, chunk by chunk. */
async function readChunks(
  path: string,
  limits: FileLimits,
  consume: (chunk: Buffer) => void,
): Promise<DataFile> {
  const { bytes, head } = await inspect(path, limits)
  if (head === parquetHead)
    throw new DataError('is a Parquet file; give the JSON file of the same split.', { file: path })
  const hash = createHash('sha256')
  const hashing = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      yield chunk
    }
  }
  const mostByRatio = Math.max(16 * mebibyte, limits.ratio * bytes)
  const deliver = async (chunks: AsyncIterable<Buffer>) => {
    let expanded = 0
    for await (const chunk of chunks) {
      expanded += chunk.length
      if (expanded > mostByRatio)
        throw new DataError(
          `expands to more than ${limits.ratio} times its size, which is too much for a data file.`,
          { file: path },
        )
      if (expanded > limits.expandedBytes)
        throw new DataError(`expands to more than ${limits.expandedBytes} bytes.`, { file: path })
      consume(chunk)
    }
  }
  const source = createReadStream(path, { highWaterMark: mebibyte })
  try {
    if (head.startsWith('\x1f\x8b')) await pipeline(source, hashing, createGunzip(), deliver)
    else await pipeline(source, hashing, deliver)
  } catch (error) {
    if (error instanceof DataError) throw error
    const problem = `cannot be read (${(error as Error).message}); the file may be truncated or damaged.`
    throw new DataError(problem, { file: path, cause: error })
  }
  return { path, bytes, sha256: hash.digest('hex') }
}

const parquetHead = 'PAR1'

/** Whether the file starts like a Parquet file. */
export async function isParquet(path: string, limits: FileLimits): Promise<boolean> {
  return (await inspect(path, limits)).head === parquetHead
}

/** Size and digest of a file with any content. */
export async function digestFile(path: string, limits: FileLimits): Promise<DataFile> {
  const { bytes } = await inspect(path, limits)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: mebibyte })) hash.update(chunk)
  return { path, bytes, sha256: hash.digest('hex') }
}

/** The size and the first four bytes. */
async function inspect(path: string, limits: FileLimits): Promise<{ bytes: number; head: string }> {
  try {
    // Non-blocking, because opening a pipe would wait for a writer.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const status = await file.stat()
    if (!status.isFile()) throw new DataError('is not a regular file. Give the path of one.', { file: path })
    const bytes = status.size
    if (bytes > limits.fileBytes)
      throw new DataError(`has ${bytes} bytes; files of up to ${limits.fileBytes} are read.`, { file: path })
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
    return { bytes, head: buffer.toString('latin1', 0, bytesRead) }
  } catch (error) {
    if (error instanceof DataError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw new DataError(code === 'ENOENT' ? 'there is no such file.' : message, { file: path, cause: error })
  }
}

/** Passes every non-blank line to `consume`, with its number from one. Lines end only in LF or CR LF. */
export async function readFileLines(
  path: string,
  limits: FileLimits,
  consume: (line: string, number: number) => void,
): Promise<DataFile> {
  let number = 0
  let pending: Buffer[] = []
  let pendingBytes = 0
  const hold = (bytes: Buffer) => {
    pendingBytes += bytes.length
    if (pendingBytes > limits.lineBytes)
      throw new DataError(`is longer than ${limits.lineBytes} bytes.`, { file: path, row: number + 1 })
    pending.push(bytes)
  }
  const endLine = () => {
    number += 1
    if (number > limits.rows) throw new DataError(`has more than ${limits.rows} lines.`, { file: path })
    const bytes = pending.length === 1 ? pending[0]! : Buffer.concat(pending)
    pending = []
    pendingBytes = 0
    const line = decodeUtf8(bytes, { file: path, row: number })
    if (line.trim() !== '') consume(line, number)
  }
  const file = await readChunks(path, limits, (chunk) => {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      hold(chunk.subarray(start, end))
      endLine()
      start = end + 1
    }
    // Copied, because a view would keep the whole chunk alive.
    if (start < chunk.length) hold(Buffer.from(chunk.subarray(start)))
  })
  if (pendingBytes > 0) endLine()
  return file
}

/** Reads a whole file that is one JSON document or table. */
export async function readText(path: string, limits: FileLimits): Promise<{ text: string; file: DataFile }> {
  const chunks: Buffer[] = []
  let bytes = 0
  const file = await readChunks(path, limits, (chunk) => {
    bytes += chunk.length
    if (bytes > limits.documentBytes)
      throw new DataError(`is one document of more than ${limits.documentBytes} bytes.`, { file: path })
    chunks.push(chunk)
  })
  return { text: decodeUtf8(Buffer.concat(chunks), { file: path }), file }
}

/** Throws for invalid UTF-8 instead of inserting replacement characters. */
export function decodeUtf8(bytes: Buffer, at: { file: string; row?: number }): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new DataError('is not UTF-8 text.', at)
  }
}
