// Takes official files into the data folder. Every row is checked first; then each file is copied, the copy compared with
// what was checked, and put in its place by one rename. Whatever fails before that leaves the folder as it was.
import { constants, existsSync } from 'node:fs'
import { copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type Benchmark, readSplit } from '../benchmarks/benchmark.ts'
import { CountedExamples } from '../benchmarks/examples.ts'
import { DataError } from '../sources/data-error.ts'
import { type DataFile, defaultLimits, digestFile } from '../sources/data-file.ts'
import { isFile, locateFile, possibleNames, storedName } from '../sources/data-folder.ts'
import type { GivenFiles } from './given-files.ts'

export interface ImportedSplit {
  readonly split: string
  readonly examples: number
  /** Fewer only where the tables of some statements are missing. */
  readonly withTask: number
  readonly files: readonly DataFile[]
}

/** Throws a DataError that names the given file, its row and field. */
export async function importFiles(
  dataFolder: string,
  benchmark: Benchmark,
  given: GivenFiles,
): Promise<readonly ImportedSplit[]> {
  const root = resolve(dataFolder)
  const imported: ImportedSplit[] = []
  for (const split of affectedSplits(root, benchmark, given)) {
    const examples = new CountedExamples()
    await readSplit(root, benchmark, split, examples, given)
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

/** Splits that these files change, each of which must then be complete. Tables or a companion alone change all. */
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

/** Gives the new place of each given path. */
async function putInPlace(
  root: string,
  { tables, companion }: Benchmark,
  given: GivenFiles,
  checked: ReadonlyMap<string, DataFile>,
): Promise<ReadonlyMap<string, string>> {
  await mkdir(root, { recursive: true })
  await removeAbandoned(root)
  const staging = join(root, `.importing-${process.pid}`)
  await rm(staging, { recursive: true, force: true })
  await mkdir(staging)
  const places = new Map<string, string>()
  try {
    for (const [name, origin] of given) {
      const copy = join(staging, name)
      await mkdir(dirname(copy), { recursive: true })
      if (name === tables?.folder) await copyTables(origin, copy)
      else await copyChecked(origin, copy, checked.get(origin))
    }
    // Tables come before the statements that need them.
    if (tables !== undefined && given.has(tables.folder))
      await moveTables(join(staging, tables.folder), join(root, tables.folder))
    for (const [name, origin] of given) {
      if (name === tables?.folder) continue
      const target = join(root, name === companion?.file ? name : storedName(name, origin))
      await mkdir(dirname(target), { recursive: true })
      await rename(join(staging, name), target)
      places.set(origin, target)
      // The same split in another format might be found instead.
      const others = name === companion?.file ? [] : possibleNames(name).map((other) => join(root, other))
      for (const other of others) if (other !== target) await rm(other, { force: true })
      await flush(dirname(target))
    }
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
  return places
}

/** A file that no affected split reads was not checked and has no digest to compare with. */
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
  await flush(copy)
}

async function copyTables(from: string, to: string): Promise<void> {
  await mkdir(to)
  // Thousands of small files, which can be imported again: not worth a flush each.
  for (const name of await readdir(from))
    if (/^[A-Za-z0-9][A-Za-z0-9._-]*\.csv$/.test(name)) await copyFile(join(from, name), join(to, name))
}

async function moveTables(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) await rename(join(from, name), join(to, name))
}

async function flush(path: string): Promise<void> {
  await using handle = await open(path)
  await handle.sync()
}

/** Removes what a killed import left behind. */
async function removeAbandoned(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const pid = /^\.importing-(\d+)$/.exec(name)?.[1]
    if (pid !== undefined && !isAlive(Number(pid)))
      await rm(join(root, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
