// Takes official files into the data folder: copies first, reads every row of the copies, and only then puts them in their
// place, each by one rename. Whatever goes wrong before leaves the folder as it was.
import { createHash } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { copyFile, mkdir, open, readdir, rename, rm, stat, symlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import {
  type Benchmark,
  type BenchmarkName,
  benchmarks,
  companionFiles,
  declaredFiles,
  loadSplit,
  splitOf,
  tabfactTables,
} from '../benchmarks/benchmark.ts'
import { DataError } from '../sources/data-error.ts'
import type { DataFile } from '../sources/data-file.ts'
import { endings, isFile, locateFile, stemOf } from './data-folder.ts'
import type { GivenFiles } from './given-files.ts'

export interface ImportedSplit {
  readonly split: string
  readonly examples: number
  /** Fewer only where the tables of some statements are not at hand. */
  readonly withTask: number
  readonly files: readonly DataFile[]
}

export interface ImportOptions {
  /** A split of more bytes is read in several passes, so that its references need not lie in memory together. */
  readonly passBytes?: number
}

const tableNames = /^[A-Za-z0-9][A-Za-z0-9._-]*\.csv$/

/** Throws a DataError that names the given file, its row and field. */
export async function importFiles(
  dataFolder: string,
  benchmark: BenchmarkName,
  given: GivenFiles,
  { passBytes = 2 ** 29 }: ImportOptions = {},
): Promise<readonly ImportedSplit[]> {
  const root = resolve(dataFolder)
  const splits = affectedSplits(root, benchmark, given)
  await mkdir(root, { recursive: true })
  await removeAbandoned(root)
  const staging = join(root, `.importing-${process.pid}`)
  await rm(staging, { recursive: true, force: true })
  try {
    const staged = await stage(root, staging, benchmark, given)
    const imported: ImportedSplit[] = []
    for (const split of splits) {
      const passes = Math.max(1, Math.ceil((await bytesOf(staging, benchmark, split)) / passBytes))
      imported.push(await readWhole(staging, benchmark, split, staged, passes))
    }
    await putInPlace(root, staging, benchmark, given, staged)
    return imported.map((one) => ({
      ...one,
      files: one.files.map((file) => ({ ...file, path: file.path.replace(staging, root) })),
    }))
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** Splits that these files change, each of which must then be complete. A companion alone changes all that are here. */
function affectedSplits(root: string, benchmark: BenchmarkName, given: GivenFiles): readonly string[] {
  const { splits }: Benchmark = benchmarks[benchmark]
  const present = (file: string) => given.files.has(file) || isFile(locateFile(root, file))
  const companions = companionFiles(benchmark)
  const rereads =
    given.tables !== undefined || [...given.files.keys()].every((file) => companions.includes(file))
  const affected = Object.entries(splits).filter(([, { files }]) =>
    rereads ? files.every(present) : files.some((file) => given.files.has(file)),
  )
  for (const [split, { files }] of affected) {
    const missing = files.filter((file) => !present(file))
    if (missing.length > 0)
      throw new DataError(
        `the split '${split}' of ${benchmark} needs ${missing.map((file) => basename(file)).join(', ')} too. ` +
          'Give all its files together.',
        { file: [...given.files.values()].join(', ') },
      )
  }
  if (affected.length === 0)
    throw given.tables === undefined
      ? new DataError(`goes with the files of a split of ${benchmark}, and none is here. Give them too.`, {
          file: [...given.files.values()].join(', '),
        })
      : new DataError('are tables without statements. Give the files of statements too.', {
          file: given.tables,
        })
  if (benchmark === 'tabfact' && given.tables === undefined && !existsSync(join(root, tabfactTables)))
    throw new DataError('has statements without tables. Give the folder all_csv too.', {
      file: [...given.files.values()].join(', '),
    })
  return affected.map(([split]) => split)
}

/** Copies under the final names; gives the origin of each copy. What is already there is linked, to be read along. */
async function stage(
  root: string,
  staging: string,
  benchmark: BenchmarkName,
  given: GivenFiles,
): Promise<ReadonlyMap<string, string>> {
  const staged = new Map<string, string>()
  const companions = companionFiles(benchmark)
  for (const file of [...declaredFiles(benchmark), ...companions]) {
    const origin = given.files.get(file)
    const present = companions.includes(file) ? join(root, file) : locateFile(root, file)
    const target = join(staging, origin === undefined ? present.slice(root.length) : finalName(file, origin))
    if (origin === undefined && !isFile(present)) continue
    await mkdir(dirname(target), { recursive: true })
    if (origin === undefined) await symlink(resolve(present), target)
    else {
      await copyDurably(origin, target)
      staged.set(target, origin)
    }
  }
  if (benchmark !== 'tabfact') return staged
  const tables = join(staging, tabfactTables)
  await mkdir(dirname(tables), { recursive: true })
  if (given.tables === undefined) await symlink(resolve(root, tabfactTables), tables)
  else {
    await mkdir(tables)
    // Thousands of small files, which can be imported again: not worth a flush each.
    for (const name of await readdir(given.tables))
      if (tableNames.test(name)) await copyFile(join(given.tables, name), join(tables, name))
  }
  return staged
}

/** The official name; with the ending that fits where the file has another format. */
function finalName(file: string, origin: string): string {
  const ending = origin.slice(stemOf(origin).length)
  return endings.includes(ending) ? `${stemOf(file)}${ending}` : file
}

async function copyDurably(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EISDIR' && code !== 'EACCES' && code !== 'EPERM' && code !== 'EIO') throw error
    throw new DataError(`cannot be read (${code}).`, { file: from, cause: error })
  }
  await flush(to)
}

async function flush(path: string): Promise<void> {
  await using handle = await open(path)
  await handle.sync()
}

async function readWhole(
  staging: string,
  benchmark: BenchmarkName,
  split: string,
  staged: ReadonlyMap<string, string>,
  passes: number,
): Promise<ImportedSplit> {
  let result: ImportedSplit | undefined
  try {
    for (let pass = 0; pass < passes; pass += 1) {
      const wanted = (id: string) => passes === 1 || passOf(id, passes) === pass
      const { ids, tasks, files } = await loadSplit(staging, benchmark, split, wanted)
      result = { split, examples: ids.length, withTask: (result?.withTask ?? 0) + tasks.size, files }
    }
  } catch (error) {
    if (!(error instanceof DataError)) throw error
    const told = (text: string) => {
      let replaced = text
      for (const [copy, origin] of staged) replaced = replaced.replaceAll(copy, origin)
      return replaced.replaceAll(`${staging}/`, '')
    }
    const { row, field } = error
    throw new DataError(told(error.problem), { file: told(error.file), row, field, cause: error })
  }
  return result!
}

async function bytesOf(staging: string, benchmark: BenchmarkName, split: string): Promise<number> {
  let bytes = 0
  for (const file of splitOf(benchmark, split).files) bytes += (await stat(locateFile(staging, file))).size
  return bytes
}

function passOf(id: string, passes: number): number {
  return createHash('sha256').update(id).digest().readUInt32LE() % passes
}

async function putInPlace(
  root: string,
  staging: string,
  benchmark: BenchmarkName,
  given: GivenFiles,
  staged: ReadonlyMap<string, string>,
): Promise<void> {
  const companions = companionFiles(benchmark).map((file) => join(root, file))
  // Tables before the statements that need them.
  if (given.tables !== undefined) {
    await mkdir(join(root, tabfactTables), { recursive: true })
    for (const name of await readdir(join(staging, tabfactTables)))
      await rename(join(staging, tabfactTables, name), join(root, tabfactTables, name))
  }
  for (const copy of staged.keys()) {
    const target = join(root, copy.slice(staging.length))
    await mkdir(dirname(target), { recursive: true })
    await rename(copy, target)
    // The same split in another format would be found instead.
    if (!companions.includes(target))
      for (const ending of endings)
        if (`${stemOf(target)}${ending}` !== target) await rm(`${stemOf(target)}${ending}`, { force: true })
    await flush(dirname(target))
  }
}

/** What an import left behind that was killed. */
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
