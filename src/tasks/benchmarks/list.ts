// Every benchmark. To add one, write its file and its entry in published.yaml, and add a line here.
import type { AnswerContract } from '../../library/answer-contract.ts'
import type { DatasetProfile } from '../../library/profiles.ts'
import { aqua } from './aqua.ts'
import { type Benchmark, benchmarkProfile } from './benchmark.ts'
import { gsm8k } from './gsm8k.ts'
import { humaneval } from './humaneval.ts'
import { livecodebench } from './livecodebench.ts'
import { mmluPro } from './mmlu-pro.ts'
import { strategyqa } from './strategyqa.ts'
import { tabfact } from './tabfact.ts'
import { tatqa } from './tatqa.ts'

export const benchmarks = {
  mmlu_pro: mmluPro,
  strategyqa,
  aqua,
  gsm8k,
  humaneval,
  livecodebench,
  tatqa,
  tabfact,
} as const satisfies Record<string, Benchmark>

export type BenchmarkName = keyof typeof benchmarks

export const benchmarkNames = Object.keys(benchmarks) as BenchmarkName[]

export function isBenchmarkName(name: string): name is BenchmarkName {
  return Object.hasOwn(benchmarks, name)
}

export const benchmarkContracts: Readonly<Record<BenchmarkName, AnswerContract>> = ofEach(
  ({ contract }) => contract,
)

export const benchmarkProfiles: Readonly<Record<BenchmarkName, DatasetProfile>> = ofEach(benchmarkProfile)

function ofEach<T>(value: (benchmark: Benchmark) => T): Record<BenchmarkName, T> {
  return Object.fromEntries(benchmarkNames.map((name) => [name, value(benchmarks[name])])) as Record<
    BenchmarkName,
    T
  >
}
