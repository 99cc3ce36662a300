import { join } from 'node:path'
import type { Benchmark } from '../src/tasks/benchmarks/benchmark.ts'
import { Examples, type Wanted } from '../src/tasks/benchmarks/examples.ts'

/** Reads files like a benchmark, with any number of examples. `root` holds the files beside them. */
export async function readFiles(
  benchmark: Benchmark,
  paths: string | readonly string[],
  options: { split?: string; root?: string; wanted?: Wanted } = {},
): Promise<Examples> {
  const { split = 'test', root = '/nowhere' } = options
  const examples = new Examples(options.wanted)
  const source = { split, paths: [paths].flat(), beside: (name: string) => join(root, name) }
  await benchmark.read(source, examples)
  return examples
}
