import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { Problem } from '../problem.ts'

/**
 * A file of JSON lines that another process appends to. Each `read` returns the records added since the last one, so that
 * a long file is parsed only once. A file that was truncated or replaced is read from its start.
 */
export class GrowingLines {
  readonly #path: string
  #offset = 0
  #inode = 0n

  constructor(path: string) {
    this.#path = path
  }

  /** `restarted`: forget the records of earlier reads. */
  read(): { records: unknown[]; restarted: boolean } {
    if (!existsSync(this.#path)) return { records: [], restarted: this.#restart(0n) }
    const file = openSync(this.#path, 'r')
    try {
      const { size, ino } = fstatSync(file, { bigint: true })
      const isSame = ino === this.#inode && Number(size) >= this.#offset
      const restarted = !isSame && this.#restart(ino)
      const added = this.#parse(file, Number(size))
      if (added !== undefined) return { records: added, restarted }
      // The file was truncated and has grown again, so the offset points into the middle of a line.
      this.#restart(ino)
      const all = this.#parse(file, Number(size))
      if (all !== undefined) return { records: all, restarted: true }
      throw new Problem(`${this.#path} has a damaged line. Restore the file from a copy.`)
    } finally {
      closeSync(file)
    }
  }

  #restart(inode: bigint): boolean {
    const hadRead = this.#offset > 0
    this.#offset = 0
    this.#inode = inode
    return hadRead
  }

  /** The complete lines after the offset; undefined if one of them is not JSON. */
  #parse(file: number, size: number): unknown[] | undefined {
    const bytes = Buffer.alloc(size - this.#offset)
    const length = readSync(file, bytes, 0, bytes.length, this.#offset)
    const end = length === 0 ? 0 : bytes.lastIndexOf(10, length - 1) + 1
    const lines = bytes.toString('utf8', 0, end).split('\n').slice(0, -1)
    try {
      const records = lines.map((line) => JSON.parse(line) as unknown)
      this.#offset += end
      return records
    } catch {
      return undefined
    }
  }
}
