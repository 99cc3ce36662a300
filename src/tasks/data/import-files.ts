// Imports official files into the data folder. Every row is checked first; then each file is copied, the copy
// compared with what was checked, and moved into place by a rename. Any failure before that leaves the folder
// unchanged.
import { constants, existsSync, statSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { syncFolder } from '../../store/durable-file.ts'
import { type Benchmark, loadSplit } from '../benchmarks/benchmark.ts'
import { Examples } from '../benchmarks/examples.ts'
import { DataError } from '../sources/data-error.ts'
import { type DataFile, defaultLimits, digestFile } from '../sources/data-file.ts'
import { isFile, locateFile, possibleNames, storedName } from '../sources/data-folder.ts'
import type { GivenFiles } from './given-files.ts'

export interface ImportedSplit {
  readonly split: string
  readonly examples: number
  /** Less than `examples` only if tables of some statements are missing. */
  readonly withTask: number
  readonly files: readonly DataFile[]
}

/** Throws a `DataError` that names the file, row and field. */
export async function importFiles(
  dataFolder: string,
  benchmark: Benchmark,
  given: GivenFiles,
): Promise<readonly ImportedSplit[]> {
  const root = resolve(dataFolder)
  const imported: ImportedSplit[] = []
  for (const split of affectedSplits(root, benchmark, given)) {
    const examples = new Examples(undefined, false)
    await loadSplit(root, benchmark, split, examples, given)
    const { count, withTask, files } = examples
    imported.push({ split, examples: count, withTask, files })
  }
  const checked = new Map(imported.flatMap(({ files }) => files.map((file) => [file.path, file])))
  const places = await putInPlace(root, benchmark, given, checked)
  return imported.map((one) => ({
    ...one,
    files: one.files.map((file) => ({ ...file, path: places.get(file.path) ?? file.path })),
  }))
}

/** The splits these files affect, which must then be complete. Tables or a companion alone affect all. */
function affectedSplits(root: string, benchmark: Benchmark, given: GivenFiles): readonly string[] {
  const { name, splits, tables, companion } = benchmark
  const file = [...given.values()].join(', ')
  const isPresent = (one: string) => given.has(one) || isFile(locateFile(root, one))
  const givesTables = tables !== undefined && given.has(tables.folder)
  const changesAll = givesTables || [...given.keys()].every((one) => one === companion?.file)
  const affected = Object.entries(splits)
    .map(([split, { files }]) => ({ split, files: files.map((one) => one.file) }))
    .filter(({ files }) => (changesAll ? files.every(isPresent) : files.some((one) => given.has(one))))
  for (const { split, files } of affected) {
    const missing = files.filter((one) => !isPresent(one)).map((one) => basename(one))
    if (missing.length > 0)
      throw new DataError(
        `the split '${split}' of ${name} needs ${missing.join(', ')} too. Give all its files together.`,
        { file },
      )
  }
  if (affected.length === 0)
    throw new DataError(
      givesTables
        ? 'are tables without statements. Give the files of statements too.'
        : `goes with the files of a split of ${name}, and none is here. Give them too.`,
      { file },
    )
  if (tables !== undefined && !givesTables && !existsSync(join(root, tables.folder)))
    throw new DataError('has statements without tables. Give the folder all_csv too.', { file })
  return affected.map(({ split }) => split)
}

/** Returns the new location of each given path. */
async function putInPlace(
  root: string,
  { tables, companion }: Benchmark,
  given: GivenFiles,
  checked: ReadonlyMap<string, DataFile>,
): Promise<ReadonlyMap<string, string>> {
  await mkdir(root, { recursive: true })
  await removeAbandoned(root)
  const staging = await mkdtemp(join(root, stagingPrefix))
  const places = new Map<string, string>()
  try {
    for (const [name, origin] of given) {
      const copy = join(staging, name)
      await mkdir(dirname(copy), { recursive: true })
      if (name === tables?.folder) await copyTables(origin, copy)
      else await copyChecked(origin, copy, checked.get(origin))
    }
    // Tables come before the statements that need them.
    if (tables !== undefined && given.has(tables.folder)) {
      await mkdir(join(root, tables.folder), { recursive: true })
      for (const name of await readdir(join(staging, tables.folder)))
        await rename(join(staging, tables.folder, name), join(root, tables.folder, name))
    }
    for (const [name, origin] of given) {
      if (name === tables?.folder) continue
      const isCompanion = name === companion?.file
      const target = join(root, isCompanion ? name : storedName(name, origin))
      await mkdir(dirname(target), { recursive: true })
      await rename(join(staging, name), target)
      places.set(origin, target)
      // A leftover of the same split in another format might be found instead.
      const others = isCompanion ? [] : possibleNames(name).map((other) => join(root, other))
      for (const other of others) if (other !== target) await rm(other, { force: true })
      syncFolder(dirname(target))
    }
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
  return places
}

/** A file that no affected split reads has not been checked, so there is no digest to compare with. */
async function copyChecked(origin: string, copy: string, checked: DataFile | undefined): Promise<void> {
  try {
    await copyFile(origin, copy, constants.COPYFILE_FICLONE)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EISDIR' && code !== 'EACCES' && code !== 'EPERM' && code !== 'EIO') throw error
    throw new DataError(`cannot be read (${code}).`, { file: origin, cause: error })
  }
  if (checked !== undefined && (await digestFile(copy, defaultLimits)).sha256 !== checked.sha256)
    throw new DataError('changed while it was imported. Try again.', { file: origin })
  await using handle = await open(copy)
  await handle.sync()
}

async function copyTables(from: string, to: string): Promise<void> {
  await mkdir(to)
  // Thousands of small files that can be imported again are not worth a flush each.
  for (const name of await readdir(from))
    if (/^[A-Za-z0-9][A-Za-z0-9._-]*\.csv$/.test(name)) await copyFile(join(from, name), join(to, name))
}

const stagingPrefix = '.importing-'
const abandonedMilliseconds = 24 * 3600 * 1000

/** Removes leftovers of killed imports. No import takes a day. */
async function removeAbandoned(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(stagingPrefix)) continue
    const changed = statSync(join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (Date.now() - changed > abandonedMilliseconds)
      await rm(join(root, name), { recursive: true, force: true })
  }
}
