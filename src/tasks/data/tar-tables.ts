// TabFact publishes its 16,573 tables as single files; the archive of its repository holds them all.
import { createReadStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { DataError } from '../sources/data-error.ts'

const block = 512
const tableBytes = 2 ** 22
const expandedBytes = 2 ** 33

/** Writes every table of the archive into a folder; gives their number. Nothing in the archive chooses where it goes. */
export async function extractTables(archive: string, folder: string): Promise<number> {
  await mkdir(folder, { recursive: true })
  let count = 0
  for await (const { path, content } of tarFiles(archive, isTable)) {
    await writeFile(join(folder, path.slice(path.lastIndexOf('/') + 1)), content)
    count += 1
  }
  if (count === 0) throw new DataError('holds no tables (data/all_csv).', { file: archive })
  return count
}

function isTable(path: string): boolean {
  return /^[^/]+\/data\/all_csv\/[A-Za-z0-9][A-Za-z0-9._-]*\.csv$/.test(path)
}

/** The wanted regular files of a gzip-compressed tar archive. */
async function* tarFiles(
  archive: string,
  wanted: (path: string) => boolean,
): AsyncGenerator<{ path: string; content: Buffer }> {
  const damaged = (problem: string) => new DataError(`${problem}; the archive is damaged.`, { file: archive })
  const bytes = new ByteQueue(createReadStream(archive).pipe(createGunzip()), damaged)
  for (;;) {
    const header = await bytes.take(block)
    if (header === undefined || header.every((byte) => byte === 0)) return
    const size = Number.parseInt(textAt(header, 124, 12), 8)
    if (!Number.isSafeInteger(size) || size < 0) throw damaged('has an entry without a size')
    const padded = Math.ceil(size / block) * block
    const prefix = textAt(header, 345, 155)
    const path = `${prefix === '' ? '' : `${prefix}/`}${textAt(header, 0, 100)}`
    const type = String.fromCharCode(header[156]!)
    if ((type === '0' || type === '\0') && wanted(path)) {
      if (size > tableBytes) throw damaged(`has a table of ${size} bytes`)
      const content = await bytes.take(padded)
      if (content === undefined) throw damaged('ends too early')
      yield { path, content: content.subarray(0, size) }
    } else await bytes.skip(padded)
  }
}

function textAt(header: Buffer, start: number, length: number): string {
  const text = header.toString('utf8', start, start + length)
  const end = text.indexOf('\0')
  return (end === -1 ? text : text.slice(0, end)).trim()
}

class ByteQueue {
  readonly #chunks: AsyncIterator<Buffer>
  readonly #damaged: (problem: string) => DataError
  #rest: Buffer = Buffer.alloc(0)
  #total = 0

  constructor(stream: AsyncIterable<Buffer>, damaged: (problem: string) => DataError) {
    this.#chunks = stream[Symbol.asyncIterator]()
    this.#damaged = damaged
  }

  /** Undefined at the end. */
  async take(length: number): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    for (let missing = length; missing > 0; ) {
      if (this.#rest.length === 0 && !(await this.#fill())) return undefined
      const part = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(part.length)
      missing -= part.length
      parts.push(part)
    }
    return Buffer.concat(parts)
  }

  async skip(length: number): Promise<void> {
    for (let missing = length; missing > 0; ) {
      if (this.#rest.length === 0 && !(await this.#fill())) throw this.#damaged('ends too early')
      const skipped = Math.min(missing, this.#rest.length)
      this.#rest = this.#rest.subarray(skipped)
      missing -= skipped
    }
  }

  async #fill(): Promise<boolean> {
    const { value, done } = await this.#chunks.next().catch((error: Error) => {
      throw this.#damaged(`cannot be unpacked (${error.message})`)
    })
    if (done) return false
    this.#rest = value
    this.#total += value.length
    if (this.#total > expandedBytes) throw this.#damaged(`expands to more than ${expandedBytes} bytes`)
    return true
  }
}
