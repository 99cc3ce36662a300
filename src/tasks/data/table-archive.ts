// TabFact publishes its 16,573 tables as single files; the archive of its repository holds them all.
import { createReadStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { createTarDecoder } from 'modern-tar'
import { DataError } from '../sources/data-error.ts'

const tableBytes = 2 ** 22
const expandedBytes = 2 ** 33
const tableName = /^[^/]+\/data\/all_csv\/[A-Za-z0-9][A-Za-z0-9._-]*\.csv$/

/** Writes every table of the archive into a folder and counts them. The archive cannot choose where a file goes. */
export async function extractTables(archive: string, folder: string): Promise<number> {
  await mkdir(folder, { recursive: true })
  let count = 0
  try {
    const tar = Readable.toWeb(Readable.from(expanded(archive))) as ReadableStream<Uint8Array>
    for await (const { header, body } of tar.pipeThrough(createTarDecoder({ strict: true }))) {
      if (header.type !== 'file' || !tableName.test(header.name)) {
        await body.cancel()
        continue
      }
      if (header.size > tableBytes) throw new Error(`has a table of ${header.size} bytes`)
      await writeFile(join(folder, basename(header.name)), body)
      count += 1
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') throw error
    throw new DataError(`cannot be unpacked (${message}); the archive is damaged.`, {
      file: archive,
      cause: error,
    })
  }
  if (count === 0) throw new DataError('holds no tables (data/all_csv).', { file: archive })
  return count
}

async function* expanded(archive: string): AsyncGenerator<Uint8Array> {
  let total = 0
  for await (const chunk of createReadStream(archive).pipe(createGunzip())) {
    total += chunk.length
    if (total > expandedBytes) throw new Error(`it expands to more than ${expandedBytes} bytes`)
    yield chunk
  }
}
