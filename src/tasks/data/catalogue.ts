import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Benchmark } from '../benchmarks/benchmark.ts'
import { isFile, locateFile } from '../sources/data-folder.ts'

export type CatalogueEntry = ReturnType<typeof describeBenchmark>

/** Describes a benchmark without reading its files. */
export function describeBenchmark(root: string, benchmark: Benchmark) {
  const { name, title, source, licence, metric, splits, companion } = benchmark
  return {
    name,
    title,
    source: source.repository,
    /** The revision of the official source that `magic data pull` downloads. */
    revision: source.revision,
    licence,
    metric,
    splits: Object.entries(splits).map(([split, { examples, files }]) => {
      const paths = files.map(({ file }) => locateFile(root, file))
      return { split, examples, imported: paths.every(isFile), files: paths.map(fileAt) }
    }),
    companions: (companion === undefined ? [] : [companion]).map(({ file, holds }) => {
      const path = join(root, file)
      return { holds, imported: isFile(path), ...fileAt(path) }
    }),
  }
}

/** `bytes` is null if the file does not exist. */
function fileAt(path: string): { path: string; bytes: number | null } {
  return { path, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? null }
}
