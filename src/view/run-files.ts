import { lstatSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { UnknownError } from './run-shelf.ts'

/** Not for download: locks and unfinished files. */
const hidden = /(^|\/)(lock\.sqlite|\.[^/]*|[^/]*\.unfinished|[^/]*-(wal|shm|journal))$/

/** The files of a run with their sizes, without links. */
export function runFiles(folder: string): { path: string; bytes: number }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({
      path: relative(folder, path),
      bytes: lstatSync(path, { throwIfNoEntry: false })?.size ?? 0,
    }))
    .filter(({ path }) => !hidden.test(path))
    .toSorted((a, b) => a.path.localeCompare(b.path))
}

/** The path of a listed file. Anything that is not on the list is refused. */
export function runFile(folder: string, path: string): string {
  if (runFiles(folder).some((file) => file.path === path)) return join(folder, path)
  throw new UnknownError('The run has no such file to download.')
}
