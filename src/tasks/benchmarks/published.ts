import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Benchmark } from './benchmark.ts'

const all: Readonly<Record<string, Pick<Benchmark, 'source' | 'splits'>>> = parse(
  readFileSync(new URL('published.yaml', import.meta.url), 'utf8'),
)

/** What `published.yaml` says of a benchmark. */
export function published(name: string): Pick<Benchmark, 'source' | 'splits'> {
  return all[name]!
}
