import { type Benchmark, readSplit, sourceOf } from '../benchmarks/benchmark.ts'
import { Examples, type Wanted } from '../benchmarks/examples.ts'
import { isFile, locateFile } from '../sources/data-folder.ts'

/** A split of a benchmark. */
export interface Source {
  readonly benchmark: Benchmark
  readonly split: string
}

/** Splits that are drawn from as one, in this order. Files are read only on demand. */
export class Pool {
  readonly name: string
  /** Counts every example, also those that are never read as tasks. */
  readonly size: number
  readonly #folder: string
  readonly #sources: readonly Source[]
  #ids: Promise<readonly string[]> | undefined

  constructor(folder: string, sources: readonly Source[]) {
    this.#folder = folder
    this.#sources = sources
    this.name = poolName(sources)
    this.size = sources.reduce((sum, { benchmark, split }) => sum + sourceOf(benchmark, split).examples, 0)
  }

  /** The ids in file order. Draws by position can do without this extra reading. */
  ids(): Promise<readonly string[]> {
    this.#ids ??= this.#load(() => false).then(({ ids }) => ids)
    return this.#ids
  }

  /** Only the examples at these positions become tasks. */
  read(positions: ReadonlySet<number>): Promise<Examples> {
    return this.#load((position) => positions.has(position))
  }

  async #load(wanted: Wanted): Promise<Examples> {
    const examples = new Examples(wanted)
    for (const { benchmark, split } of this.#sources)
      await readSplit(this.#folder, benchmark, split, examples)
    return examples
  }
}

/** `strategyqa dev + train`. */
export function poolName(sources: readonly Source[]): string {
  return `${sources[0]!.benchmark.name} ${sources.map(({ split }) => split).join(' + ')}`
}

/** The files of these splits that the folder lacks, under their names in it. */
export function missingFiles(folder: string, sources: readonly Source[]): readonly string[] {
  const files = sources.flatMap(({ benchmark, split }) => sourceOf(benchmark, split).files)
  return [...new Set(files.map(({ file }) => file))].filter((file) => !isFile(locateFile(folder, file)))
}
