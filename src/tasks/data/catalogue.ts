import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type Benchmark, type BenchmarkName, benchmarks } from '../benchmarks/benchmark.ts'
import { isFile, locateFile } from './data-folder.ts'
import { officialFiles } from './official-files.ts'

/** What is known of a benchmark without reading its files. */
export interface CatalogueEntry {
  readonly name: BenchmarkName
  readonly title: string
  readonly source: string
  /** The state of the official source that `magic data pull` fetches. */
  readonly revision: string
  readonly licence: string
  readonly metric: Benchmark['metric']
  readonly splits: readonly CatalogueSplit[]
  readonly companions: readonly CatalogueCompanion[]
}

export interface CatalogueSplit {
  readonly split: string
  readonly examples: number
  /** All its files are in the data folder. */
  readonly imported: boolean
  readonly files: readonly CatalogueFile[]
}

export interface CatalogueCompanion extends CatalogueFile {
  readonly holds: string
  readonly imported: boolean
}

interface CatalogueFile {
  readonly path: string
  /** Null: not here. */
  readonly bytes: number | null
}

export const benchmarkNames = Object.keys(benchmarks) as BenchmarkName[]

export function describeBenchmark(root: string, name: BenchmarkName): CatalogueEntry {
  const { title, source, licence, metric, splits, companions = [] }: Benchmark = benchmarks[name]
  return {
    name,
    title,
    source,
    revision: officialFiles[name][0]!.revision,
    licence,
    metric,
    splits: Object.entries(splits).map(([split, { examples, files }]) => {
      const paths = files.map((file) => locateFile(root, file))
      return {
        split,
        examples,
        imported: paths.every(isFile),
        files: paths.map(fileAt),
      }
    }),
    companions: companions.map(({ file, holds }) => {
      const path = join(root, file)
      return { holds, imported: isFile(path), ...fileAt(path) }
    }),
  }
}

function fileAt(path: string): CatalogueFile {
  return { path, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? null }
}
