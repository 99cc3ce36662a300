import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { syncFolder } from './durable-file.ts'

/**
 * Puts files under a folder's name, all of them or none, whatever happens in between: a failure, a kill, a power loss.
 * What was there before stays until the new files are safe. One writer per folder; readers ask `currentFolder`.
 */
export async function replaceFolder(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const places = placesOf(folder)
  const { target, unfinished, replaced } = places
  try {
    settle(places)
    rmSync(unfinished, { recursive: true, force: true })
    mkdirSync(unfinished, { recursive: true })
    for (const [name, bytes] of files) await writeFile(join(unfinished, name), bytes, { flush: true })
    syncFolder(unfinished)
    // A folder cannot be renamed over one that has files: the old one steps aside first.
    renameIfPresent(target, replaced)
    renameSync(unfinished, target)
    syncFolder(dirname(target))
  } finally {
    // What cannot be tidied up now is left to the next writer: the first failure is the one to report.
    try {
      settle(places)
      rmSync(unfinished, { recursive: true, force: true })
    } catch {}
  }
}

/** Where a folder's files are: under its name, or aside if a writer ended just between its two renames. */
export function currentFolder(folder: string): string {
  const { target, replaced } = placesOf(folder)
  return !existsSync(target) && existsSync(replaced) ? replaced : folder
}

function placesOf(folder: string) {
  const target = resolve(folder)
  const aside = (suffix: string) => join(dirname(target), `.${basename(target)}.${suffix}`)
  return { target, unfinished: aside('unfinished'), replaced: aside('replaced') }
}

/** Ends what an earlier writer left half done: the old folder gets its name back, or goes if there is a newer one. */
function settle({ target, replaced }: ReturnType<typeof placesOf>): void {
  if (existsSync(target)) rmSync(replaced, { recursive: true, force: true })
  else renameIfPresent(replaced, target)
}

function renameIfPresent(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
