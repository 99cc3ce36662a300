// TabFact publishes its 16,573 tables as single files; the archive of its repository contains them all.
import { createReadStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { TarHeader } from 'modern-tar'
import { unpackTar } from 'modern-tar/fs'
import { DataError } from '../sources/data-error.ts'

const tableBytes = 2 ** 22
const expandedBytes = 2 ** 33
const tableName = /^[^/]+\/data\/all_csv\/[A-Za-z0-9][A-Za-z0-9._-]*\.csv$/

/** Extracts every table of the archive into a folder and returns their number. The archive cannot choose where files go. */
export async function extractTables(archive: string, folder: string): Promise<number> {
  await mkdir(folder, { recursive: true })
  let count = 0
  let total = 0
  const limited = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      total += chunk.length
      if (total > expandedBytes) throw new Error(`it expands to more than ${expandedBytes} bytes`)
      yield chunk
    }
  }
  const isTable = ({ type, name, size }: TarHeader) => {
    if (type !== 'file' || !tableName.test(name)) return false
    if (size > tableBytes) throw new Error(`has a table of ${size} bytes`)
    count += 1
    return true
  }
  const map = (header: TarHeader) => ({ ...header, name: basename(header.name) })
  try {
    const tar = unpackTar(folder, { strict: true, filter: isTable, map, fmode: 0o644 })
    await pipeline(createReadStream(archive), createGunzip(), limited, tar)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') throw error
    const problem = `cannot be unpacked (${message}); the archive is damaged.`
    throw new DataError(problem, { file: archive, cause: error })
  }
  if (count === 0) throw new DataError('holds no tables (data/all_csv).', { file: archive })
  return count
}
