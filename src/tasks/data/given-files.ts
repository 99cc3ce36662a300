// Recognises which official file each given path is, by name and location: alone, in a clone of the official
// repository, in a download from the hub, or in another data folder.
import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Benchmark, sourceOf } from '../benchmarks/benchmark.ts'
import { DataError } from '../sources/data-error.ts'
import { isFile, possibleNames, stemOf } from '../sources/data-folder.ts'

/** Paths by their names in the data folder: files of splits, the companion, the folder of tables. */
export type GivenFiles = ReadonlyMap<string, string>

/** A file to look for: where it may be in a folder, and which names identify it when given alone. */
interface KnownFile {
  readonly name: string
  readonly places: readonly string[]
  isNamed(basename: string): boolean
}

/** Throws a `DataError` for a path that is not part of this benchmark, and for a file given twice. */
export function recogniseFiles(benchmark: Benchmark, paths: readonly string[], split?: string): GivenFiles {
  const splits = split === undefined ? Object.keys(benchmark.splits) : [split]
  const files = splits.flatMap((name) => filesOfSplit(benchmark, name))
  const known = benchmark.companion === undefined ? files : [...files, companion(benchmark.companion.file)]
  const namesOf = (list: readonly KnownFile[]) => list.map(({ name }) => basename(name)).join(', ')
  const given = new Map<string, string>()
  const add = (name: string, path: string) => {
    const earlier = given.get(name)
    if (earlier !== undefined && earlier !== path)
      throw new DataError(`is ${name}, and so is ${earlier}. Give one of them.`, { file: path })
    given.set(name, path)
  }
  for (const path of paths) {
    const status = statSync(path, { throwIfNoEntry: false })
    if (status === undefined) throw new DataError('there is no such file or folder.', { file: path })
    if (status.isDirectory()) {
      const found = [...tablesIn(path, benchmark), ...known.flatMap((file) => placeIn(path, file))]
      for (const [name, place] of found) add(name, place)
      // A companion alone is not the requested split.
      const wanted = split === undefined ? known : files
      const names = [benchmark.tables?.folder, ...wanted.map(({ name }) => name)]
      if (found.some(([name]) => names.includes(name))) continue
      throw new DataError(`has no file of ${benchmark.name}; looked for ${namesOf(wanted)}.`, { file: path })
    }
    if (!status.isFile()) throw new DataError('is not a regular file.', { file: path })
    // With --split, the user has said which file this is.
    const said = split !== undefined && files.length === 1 ? files[0] : undefined
    const named = known.find(({ isNamed }) => isNamed(basename(path))) ?? said
    if (named === undefined)
      throw new DataError(
        `does not have the name of a file of ${benchmark.name} (${namesOf(known)}). ` +
          'Say which split it is with --split.',
        { file: path },
      )
    add(named.name, path)
  }
  return given
}

function filesOfSplit(benchmark: Benchmark, split: string): readonly KnownFile[] {
  const { files } = sourceOf(benchmark, split)
  const shard = `${split}-00000-of-00001.parquet`
  return files.map(({ file, path = file }) => ({
    name: file,
    places: [...[file, withoutFolder(file)].flatMap(possibleNames), path, shard],
    isNamed: (name) => stemOf(name) === stemOf(basename(file)) || (files.length === 1 && name === shard),
  }))
}

/** Unlike the official files, a companion has only one format. */
function companion(file: string): KnownFile {
  const places = [file, withoutFolder(file)].flatMap((name) => [name, `${name}.gz`])
  return { name: file, places, isNamed: (name) => places.includes(name) }
}

function placeIn(folder: string, { name, places }: KnownFile): readonly [name: string, path: string][] {
  const path = places.map((place) => join(folder, place)).find(isFile)
  return path === undefined ? [] : [[name, path]]
}

function tablesIn(folder: string, { tables }: Benchmark): readonly [name: string, path: string][] {
  if (tables === undefined) return []
  const places = [tables.folder, withoutFolder(tables.folder)].map((place) => join(folder, place))
  if (basename(folder) === basename(tables.folder)) places.push(folder)
  const isFilled = (place: string) =>
    statSync(place, { throwIfNoEntry: false })?.isDirectory() && readdirSync(place).length > 0
  const path = places.find(isFilled)
  return path === undefined ? [] : [[tables.folder, path]]
}

/** `gsm8k/test.jsonl` relative to the benchmark's own folder. */
function withoutFolder(name: string): string {
  return name.slice(name.indexOf('/') + 1)
}
