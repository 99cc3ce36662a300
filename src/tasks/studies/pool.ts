import { type BenchmarkName, loadSplit, splitOf } from '../benchmarks/benchmark.ts'
import { joinSplits, type Split } from '../benchmarks/split.ts'
import { isFile, locateFile } from '../data/data-folder.ts'

/** A split of a benchmark, as its official source cuts it. */
export interface Source {
  readonly benchmark: BenchmarkName
  readonly split: string
}

/** Splits that are drawn from as one, in this order. Their files are read only when asked for. */
export class Pool {
  readonly name: string
  /** Every example counts, also those that are never read as tasks. */
  readonly size: number
  readonly #folder: string
  readonly #sources: readonly Source[]
  #ids: Promise<readonly string[]> | undefined

  constructor(folder: string, sources: readonly Source[]) {
    this.#folder = folder
    this.#sources = sources
    this.name = poolName(sources)
    this.size = sources.reduce((sum, { benchmark, split }) => sum + splitOf(benchmark, split).examples, 0)
  }

  /** The ids in file order, from a reading of their own: draws by position do without. */
  ids(): Promise<readonly string[]> {
    this.#ids ??= this.#load(() => false).then(({ ids }) => ids)
    return this.#ids
  }

  /** Only the examples at these positions become tasks. */
  read(positions: ReadonlySet<number>): Promise<Split> {
    // Large collections are read once: an id is numbered when its reader, who goes in file order, first asks about it.
    const places = new Map<string, number>()
    return this.#load((id) => {
      const place = places.get(id) ?? places.size
      places.set(id, place)
      return positions.has(place)
    })
  }

  async #load(wanted: (id: string) => boolean): Promise<Split> {
    const splits: Split[] = []
    for (const { benchmark, split } of this.#sources)
      splits.push(await loadSplit(this.#folder, benchmark, split, wanted))
    return splits.length === 1 ? splits[0]! : joinSplits(splits)
  }
}

/** `strategyqa dev + train`. */
export function poolName(sources: readonly Source[]): string {
  return `${sources[0]!.benchmark} ${sources.map(({ split }) => split).join(' + ')}`
}

/** The files of these splits that the folder lacks, under their names in it. */
export function missingFiles(folder: string, sources: readonly Source[]): readonly string[] {
  const files = sources.flatMap(({ benchmark, split }) => splitOf(benchmark, split).files)
  return [...new Set(files)].filter((file) => !isFile(locateFile(folder, file)))
}
