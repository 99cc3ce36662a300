// Which official file each of the files is that a person has, by name and place: alone, in a clone of the official
// repository, in a download from the hub, or in another data folder.
import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  type Benchmark,
  type BenchmarkName,
  benchmarks,
  companionFiles,
  declaredFiles,
  splitOf,
  tabfactTables,
} from '../benchmarks/benchmark.ts'
import { DataError } from '../sources/data-error.ts'
import { isFile, locateFile, stemOf } from './data-folder.ts'
import { officialFiles } from './official-files.ts'

export interface GivenFiles {
  /** Of splits, and companions; by the name in the data folder. */
  readonly files: ReadonlyMap<string, string>
  /** TabFact's folder of tables. */
  readonly tables: string | undefined
}

/** Throws a DataError for a path that is nothing of this benchmark's, and for one file given twice. */
export function recogniseFiles(
  benchmark: BenchmarkName,
  paths: readonly string[],
  split?: string,
): GivenFiles {
  const files = new Map<string, string>()
  let tables: string | undefined
  const add = (file: string, path: string) => {
    const earlier = files.get(file)
    if (earlier !== undefined && earlier !== path)
      throw new DataError(`is ${file}, and so is ${earlier}. Give one of them.`, { file: path })
    files.set(file, path)
  }
  for (const path of paths) {
    const status = statSync(path, { throwIfNoEntry: false })
    if (status === undefined) throw new DataError('there is no such file or folder.', { file: path })
    if (!status.isDirectory()) {
      add(recogniseFile(benchmark, path, split), path)
      continue
    }
    const companions = companionFiles(benchmark)
    const known = filesOf(benchmark, split)
    // A companion alone is not the split that was asked for.
    const sought = split === undefined ? [...known, ...companions] : known
    let found = benchmark === 'tabfact' ? tablesIn(path) : undefined
    tables = found ?? tables
    for (const file of [...known, ...companions]) {
      const place = placesIn(path, benchmark, file).find(isFile)
      if (place === undefined) continue
      add(file, place)
      if (sought.includes(file)) found = place
    }
    if (found === undefined)
      throw new DataError(`has no file of ${benchmark}; looked for ${names(sought)}.`, { file: path })
  }
  return { files, tables }
}

function filesOf(benchmark: BenchmarkName, split: string | undefined): readonly string[] {
  return split === undefined ? declaredFiles(benchmark) : splitOf(benchmark, split).files
}

function recogniseFile(benchmark: BenchmarkName, path: string, split: string | undefined): string {
  const known = filesOf(benchmark, split)
  const name = basename(path)
  const companions = companionFiles(benchmark)
  const companion = companions.find((file) => companionNames(basename(file)).includes(name))
  if (companion !== undefined) return companion
  const named = known.find((file) => stemOf(basename(file)) === stemOf(name))
  if (named !== undefined) return named
  const shard = /^(train|dev|validation|test)-00000-of-00001\.parquet$/.exec(name)?.[1]
  const { splits }: Benchmark = benchmarks[benchmark]
  const ofShard = shard !== undefined && Object.hasOwn(splits, shard) ? splits[shard] : undefined
  if (ofShard?.files.length === 1 && known.includes(ofShard.files[0]!)) return ofShard.files[0]!
  // Its name says nothing, so the person must.
  if (split !== undefined && known.length === 1) return known[0]!
  throw new DataError(
    `does not have the name of a file of ${benchmark} (${names([...known, ...companions])}). ` +
      'Say which split it is with --split.',
    { file: path },
  )
}

function placesIn(folder: string, benchmark: BenchmarkName, file: string): readonly string[] {
  const short = file.slice(file.indexOf('/') + 1)
  if (companionFiles(benchmark).includes(file))
    return [file, short].flatMap(companionNames).map((name) => join(folder, name))
  const { splits }: Benchmark = benchmarks[benchmark]
  const [split] = Object.entries(splits).find(([, source]) => source.files.includes(file))!
  const official = officialFiles[benchmark]
    .filter((candidate) => stemOf(candidate.file) === stemOf(file))
    .map((candidate) => join(folder, candidate.path))
  return [
    locateFile(folder, file),
    locateFile(folder, short),
    ...official,
    join(folder, `${split}-00000-of-00001.parquet`),
  ]
}

/** No other format: only the official files come in several. */
function companionNames(file: string): readonly string[] {
  return [file, `${file}.gz`]
}

function tablesIn(folder: string): string | undefined {
  const candidates = [join(folder, tabfactTables), join(folder, 'data/all_csv')]
  if (basename(folder) === 'all_csv') candidates.push(folder)
  return candidates.find(
    (candidate) =>
      statSync(candidate, { throwIfNoEntry: false })?.isDirectory() && readdirSync(candidate).length > 0,
  )
}

function names(files: readonly string[]): string {
  return files.map((file) => basename(file)).join(', ')
}
