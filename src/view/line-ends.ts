import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'

/** The trajectories of a long training take gigabytes, so a page reads only this much of either end. */
const mostBytes = 16 * 1024 * 1024

/** At most `most` records from the start of a file of JSON lines, and as many from its end. */
export function lineEnds<Line>(path: string, most: number): { first: Line[]; last: Line[] } {
  if (!existsSync(path)) return { first: [], last: [] }
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const length = Math.min(size, mostBytes)
    const read = (from: number) => {
      const bytes = Buffer.alloc(length)
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, length, from)).split('\n')
    }
    const parsed = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as Line)
    // The last line may be incomplete, and so is usually the first one of the end.
    const head = read(0).slice(0, -1)
    const tail = length === size ? head : read(size - length).slice(1, -1)
    return { first: parsed(head.slice(0, most)), last: parsed(tail.slice(-most)) }
  } finally {
    closeSync(file)
  }
}
