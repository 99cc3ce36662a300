import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { syncFolder } from './durable-file.ts'

/**
 * Replaces a folder's files atomically, even across a failure, a kill or a power loss. The old files stay until the
 * new ones are safe. One writer per folder; readers use `currentFolder`.
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
    // A folder cannot be renamed over a non-empty one, so the old one moves aside first.
    renameIfPresent(target, replaced)
    renameSync(unfinished, target)
    syncFolder(dirname(target))
  } finally {
    // Ignore failures of the clean-up, which the next writer repeats: the first failure is the one to report.
    try {
      settle(places)
      rmSync(unfinished, { recursive: true, force: true })
    } catch {}
  }
}

/** Where a folder's files are: under its name, or aside if a writer died between its two renames. */
export function currentFolder(folder: string): string {
  const { target, replaced } = placesOf(folder)
  return !existsSync(target) && existsSync(replaced) ? replaced : folder
}

function placesOf(folder: string) {
  const target = resolve(folder)
  const aside = (suffix: string) => join(dirname(target), `.${basename(target)}.${suffix}`)
  return { target, unfinished: aside('unfinished'), replaced: aside('replaced') }
}

/** Finishes what an earlier writer left: the old folder gets its name back, or is deleted if there is a newer one. */
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
