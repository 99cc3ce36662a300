// The paper's eight benchmarks: where each comes from, which files make up its splits, how many examples those have.
import { join } from 'node:path'
import { locateFile } from '../data/data-folder.ts'
import { DataError } from '../sources/data-error.ts'
import { readAqua } from './aqua.ts'
import { readGsm8k } from './gsm8k.ts'
import { readHumaneval } from './humaneval.ts'
import { readLivecodebench } from './livecodebench.ts'
import { readMmluPro } from './mmlu-pro.ts'
import { everyExample, type Split, type Wanted } from './split.ts'
import { readStrategyqa } from './strategyqa.ts'
import { readTabfact } from './tabfact.ts'
import { readTatqa } from './tatqa.ts'

export interface Benchmark {
  readonly title: string
  readonly source: string
  readonly licence: string
  readonly metric: 'accuracy' | 'F1' | 'pass@1'
  readonly splits: Readonly<Record<string, SplitSource>>
  readonly companions?: readonly Companion[]
  read(source: FoundSplit, wanted: Wanted): Promise<Split>
}

export interface SplitSource {
  /** Relative to the data folder, in the layout of the official source under a folder per benchmark. */
  readonly files: readonly string[]
  /** How many examples the official split has: a file with fewer is truncated, one with more is something else. */
  readonly examples: number
}

/** A JSON file that no official source has and that need not be there: it adds to the references of every split. */
interface Companion {
  /** Relative to the data folder. */
  readonly file: string
  /** What is in it and what for, in words. */
  readonly holds: string
}

/** A split whose files have been looked for in a data folder. */
interface FoundSplit {
  readonly name: string
  readonly root: string
  readonly files: readonly string[]
}

const livecodebenchFiles = ['test', 'test2', 'test3', 'test4', 'test5', 'test6'].map(
  (name) => `livecodebench/${name}.jsonl`,
)

const livecodebenchSolutions = 'livecodebench/solutions.json'

/** Where TabFact keeps its tables, a file each. */
export const tabfactTables = 'tabfact/data/all_csv'

export const benchmarks = {
  mmlu_pro: {
    title: 'MMLU-Pro',
    source: 'TIGER-Lab/MMLU-Pro',
    licence: 'Apache-2.0',
    metric: 'accuracy',
    splits: {
      validation: { files: ['mmlu_pro/validation.jsonl'], examples: 70 },
      test: { files: ['mmlu_pro/test.jsonl'], examples: 12032 },
    },
    read: ({ files }, wanted) => readMmluPro(files[0]!, wanted),
  },
  strategyqa: {
    title: 'StrategyQA',
    source: 'eladsegal/strategyqa',
    licence: 'MIT',
    metric: 'accuracy',
    splits: {
      train: { files: ['strategyqa/train.json'], examples: 2061 },
      dev: { files: ['strategyqa/dev.json'], examples: 229 },
    },
    read: ({ files }, wanted) => readStrategyqa(files[0]!, wanted),
  },
  aqua: {
    title: 'AQuA-RAT',
    source: 'google-deepmind/AQuA',
    licence: 'Apache-2.0',
    metric: 'accuracy',
    splits: {
      train: { files: ['aqua/train.json'], examples: 97467 },
      dev: { files: ['aqua/dev.json'], examples: 254 },
      test: { files: ['aqua/test.json'], examples: 254 },
    },
    read: ({ files, name }, wanted) => readAqua(files[0]!, name, wanted),
  },
  gsm8k: {
    title: 'GSM8K',
    source: 'openai/grade-school-math',
    licence: 'MIT',
    metric: 'accuracy',
    splits: {
      train: { files: ['gsm8k/train.jsonl'], examples: 7473 },
      test: { files: ['gsm8k/test.jsonl'], examples: 1319 },
    },
    read: ({ files, name }, wanted) => readGsm8k(files[0]!, name, wanted),
  },
  humaneval: {
    title: 'HumanEval',
    source: 'openai/human-eval',
    licence: 'MIT',
    metric: 'pass@1',
    splits: { test: { files: ['humaneval/HumanEval.jsonl.gz'], examples: 164 } },
    read: ({ files }, wanted) => readHumaneval(files[0]!, wanted),
  },
  livecodebench: {
    title: 'LiveCodeBench-v6',
    source: 'livecodebench/code_generation_lite',
    licence: 'CC',
    metric: 'pass@1',
    splits: {
      // release_v6 is the six files together; v6 is the last one alone. Rows carry no version.
      train: { files: livecodebenchFiles.slice(0, 5), examples: 880 },
      test: { files: livecodebenchFiles.slice(5), examples: 175 },
      sample: { files: ['livecodebench/sample.jsonl'], examples: 8 },
    },
    companions: [
      { file: livecodebenchSolutions, holds: 'right programs for self-checks and the simulated model' },
    ],
    read: ({ root, files }, wanted) => readLivecodebench(files, wanted, join(root, livecodebenchSolutions)),
  },
  tatqa: {
    title: 'TAT-QA',
    source: 'NExTplusplus/TAT-QA',
    licence: 'CC-BY-4.0',
    metric: 'F1',
    splits: {
      train: { files: ['tatqa/tatqa_dataset_train.json'], examples: 13215 },
      dev: { files: ['tatqa/tatqa_dataset_dev.json'], examples: 1668 },
      // The file of the paper's 1,669 test questions has no answers; the one with answers has other uids.
      test: { files: ['tatqa/tatqa_dataset_test_gold.json'], examples: 1663 },
      'test-unlabelled': { files: ['tatqa/tatqa_dataset_test.json'], examples: 1669 },
    },
    read: ({ files }, wanted) => readTatqa(files[0]!, wanted),
  },
  tabfact: {
    title: 'TabFact',
    source: 'wenhuchen/Table-Fact-Checking',
    licence: 'MIT',
    metric: 'accuracy',
    splits: {
      train: { files: ['tabfact/tokenized_data/train_examples.json'], examples: 92283 },
      dev: { files: ['tabfact/tokenized_data/val_examples.json'], examples: 12792 },
      test: { files: ['tabfact/tokenized_data/test_examples.json'], examples: 12779 },
    },
    read: ({ root, files }, wanted) => readTabfact(files[0]!, join(root, tabfactTables), wanted),
  },
} as const satisfies Record<string, Benchmark>

export type BenchmarkName = keyof typeof benchmarks

/** Reads a split of a benchmark from a data folder. `wanted` limits tasks and references, not the pool of ids. */
export async function loadSplit(
  root: string,
  benchmark: BenchmarkName,
  split: string,
  wanted: Wanted = everyExample,
): Promise<Split> {
  const source = splitOf(benchmark, split)
  const files = source.files.map((file) => locateFile(root, file))
  const loaded = await benchmarks[benchmark].read({ name: split, root, files }, wanted)
  if (loaded.ids.length !== source.examples)
    throw new DataError(
      `${loaded.ids.length} examples, but the split '${split}' of ${benchmark} has ${source.examples}: ` +
        'the file is truncated, or of another version.',
      { file: files.join(', ') },
    )
  return loaded
}

/** Every file that a split of the benchmark reads, under its name in the data folder. */
export function declaredFiles(benchmark: BenchmarkName): readonly string[] {
  const { splits }: Benchmark = benchmarks[benchmark]
  return Object.values(splits).flatMap((source) => source.files)
}

/** What may lie beside them, under its name in the data folder. */
export function companionFiles(benchmark: BenchmarkName): readonly string[] {
  const { companions = [] }: Benchmark = benchmarks[benchmark]
  return companions.map(({ file }) => file)
}

/** Throws an error that names the splits there are. */
export function splitOf(benchmark: BenchmarkName, split: string): SplitSource {
  const { splits }: Benchmark = benchmarks[benchmark]
  const source = Object.hasOwn(splits, split) ? splits[split] : undefined
  if (source === undefined)
    throw new UnknownSplitError(
      `${benchmark} has no split '${split}'; it has ${Object.keys(splits).join(', ')}.`,
    )
  return source
}

export class UnknownSplitError extends Error {
  override readonly name = 'UnknownSplitError'
}
