import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { syncFolder, writeSynced } from './durable-file.ts'

/**
 * Puts files under a folder's name, all of them or none, whatever happens in between: a failure, a kill, a power loss.
 * What was there before stays until the new files are safe. One writer per folder; readers ask `currentFolder`.
 */
export function replaceFolder(folder: string, contents: ReadonlyMap<string, Uint8Array>): void {
  try {
    const unfinished = begin(folder)
    for (const [name, bytes] of contents) writeSynced(join(unfinished, name), bytes)
    putInPlace(folder)
  } finally {
    tidyUp(folder)
  }
}

/** The same, while other things go on: the disk is waited for outside the event loop. */
export async function replaceFolderInBackground(
  folder: string,
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  try {
    const unfinished = begin(folder)
    for (const [name, bytes] of contents) await writeFile(join(unfinished, name), bytes, { flush: true })
    putInPlace(folder)
  } finally {
    tidyUp(folder)
  }
}

/** Where a folder's files are: under its name, or aside if a writer ended just between its two renames. */
export function currentFolder(folder: string): string {
  const { target, replaced } = placesOf(folder)
  return !existsSync(target) && existsSync(replaced) ? replaced : folder
}

function placesOf(folder: string): { target: string; unfinished: string; replaced: string } {
  const target = resolve(folder)
  const aside = (suffix: string) => join(dirname(target), `.${basename(target)}.${suffix}`)
  return { target, unfinished: aside('unfinished'), replaced: aside('replaced') }
}

/** An empty folder beside, for the new files. */
function begin(folder: string): string {
  const { unfinished } = placesOf(folder)
  settle(folder)
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  return unfinished
}

function putInPlace(folder: string): void {
  const { target, unfinished, replaced } = placesOf(folder)
  syncFolder(unfinished)
  // A folder cannot be renamed over one that has files: the old one steps aside first.
  renameIfPresent(target, replaced)
  renameSync(unfinished, target)
  syncFolder(dirname(target))
}

/** Ends what an earlier writer left half done: the old folder gets its name back, or goes if there is a newer one. */
function settle(folder: string): void {
  const { target, replaced } = placesOf(folder)
  if (existsSync(target)) rmSync(replaced, { recursive: true, force: true })
  else renameIfPresent(replaced, target)
}

/** What cannot be tidied up now is left to the next writer: a failure before this one is the one to be heard. */
function tidyUp(folder: string): void {
  try {
    settle(folder)
    rmSync(placesOf(folder).unfinished, { recursive: true, force: true })
  } catch {}
}

function renameIfPresent(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
