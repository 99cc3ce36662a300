import { type Benchmark, loadSplit, sourceOf } from '../benchmarks/benchmark.ts'
import { Examples } from '../benchmarks/examples.ts'
import { isFile, locateFile } from '../sources/data-folder.ts'

/** Splits of a benchmark that are drawn from as one pool, in this order. Files are read on demand. */
export class Pool {
  readonly folder: string
  readonly benchmark: Benchmark
  readonly splits: readonly string[]
  /** `strategyqa dev + train`. */
  readonly name: string
  /** Counts every example, even those never read as tasks. */
  readonly size: number
  #ids: Promise<readonly string[]> | undefined

  constructor(folder: string, benchmark: Benchmark, splits: readonly string[]) {
    this.folder = folder
    this.benchmark = benchmark
    this.splits = splits
    this.name = `${benchmark.name} ${splits.join(' + ')}`
    this.size = splits.reduce((sum, split) => sum + sourceOf(benchmark, split).examples, 0)
  }

  /** Missing files, by their names in the folder. */
  missing(): readonly string[] {
    const files = this.splits.flatMap((split) => sourceOf(this.benchmark, split).files)
    return files.map(({ file }) => file).filter((file) => !isFile(locateFile(this.folder, file)))
  }

  /** The ids in file order. Draws by position do not need this extra read. */
  ids(): Promise<readonly string[]> {
    this.#ids ??= this.read(new Set()).then(({ ids }) => ids)
    return this.#ids
  }

  /** Only the examples at these positions become tasks. */
  async read(positions: ReadonlySet<number>): Promise<Examples> {
    const examples = new Examples((position) => positions.has(position))
    for (const split of this.splits) await loadSplit(this.folder, this.benchmark, split, examples)
    return examples
  }
}
