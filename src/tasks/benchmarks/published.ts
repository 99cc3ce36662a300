import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Benchmark } from './benchmark.ts'

/** Where each benchmark is published; `published.yaml` explains the fields. */
export const published: Readonly<Record<string, Pick<Benchmark, 'source' | 'splits'>>> = parse(
  readFileSync(new URL('published.yaml', import.meta.url), 'utf8'),
)
