import { join } from 'node:path'
import type { AnswerContract } from '../../library/answer-contract.ts'
import type { DatasetProfile } from '../../library/profiles.ts'
import type { Reference } from '../scoring/reference.ts'
import { DataError } from '../sources/data-error.ts'
import { locateFile } from '../sources/data-folder.ts'
import type { D3Study, FurtherStudies, Q1Study, Study } from '../studies/study.ts'
import { type TaskScorer, TaskSetError } from '../task-set.ts'
import { Examples } from './examples.ts'
import { commonRoles } from './roles.ts'

/** A benchmark: source, licence, files, contract, metric, roles and selections. */
export interface Benchmark {
  /** Used in flags and runs, and as the folder of its files in the data folder. */
  readonly name: string
  readonly title: string
  readonly licence: string
  readonly metric: 'accuracy' | 'F1' | 'pass@1'
  readonly contract: AnswerContract
  /** In addition to the common roles. */
  readonly furtherRoles: DatasetProfile['roles']
  readonly tools: DatasetProfile['tools']
  readonly source: Repository
  readonly splits: Readonly<Record<string, SplitSource>>
  /** A folder with a file per table, used by every split. */
  readonly tables?: { readonly folder: string; readonly count: number }
  /** An optional file, not in the official source, that adds to the references of every split. */
  readonly companion?: { readonly file: string; readonly holds: string }
  readonly q1: Q1Study
  readonly furtherStudies?: FurtherStudies
  readonly d3?: D3Study
  /** Set if D1 asks and scores differently. */
  readonly d1?: {
    readonly metric: string
    readonly contract: AnswerContract
    readonly scorer: TaskScorer<Reference>
  }
  /** Adds the examples of a split, and the files they were read from. */
  read(split: SplitFiles, examples: Examples): Promise<void>
}

/** Where the official files are published, with a pinned revision. */
export interface Repository {
  readonly host: 'github' | 'hub'
  readonly repository: string
  readonly revision: string
}

export interface SplitSource {
  /** The size of the official split, to detect truncated or wrong files. */
  readonly examples: number
  readonly files: readonly SplitFile[]
  /** The source withholds the answers. */
  readonly unlabelled?: true
  /** How evaluating on this split differs from the paper. */
  readonly deviation?: string
}

/** Without a digest, a download is checked only by its rows and their number. */
export interface SplitFile {
  /** Its path in the data folder. */
  readonly file: string
  /** Its path in the repository; absent if not published. */
  readonly path?: string
  readonly bytes?: number
  readonly sha256?: string
}

/** A split with the paths of its files. */
interface SplitFiles {
  readonly split: string
  readonly paths: readonly string[]
  /** The path of another file in the data folder, which may not exist. */
  beside(name: string): string
}

/** Whether the paper has this study on the benchmark. */
export function hasStudy({ furtherStudies, d3 }: Benchmark, study: Study): boolean {
  if (study === 'q1') return true
  return study === 'd3' ? d3 !== undefined : furtherStudies !== undefined
}

export function benchmarkProfile({ name, furtherRoles, tools }: Benchmark): DatasetProfile {
  return { id: name, roles: [...commonRoles, ...furtherRoles], tools }
}

/** Adds a split to `examples`. Files in `given` (keyed by their names in the data folder) are read instead of those there. */
export async function loadSplit(
  root: string,
  benchmark: Benchmark,
  split: string,
  examples = new Examples(),
  given: ReadonlyMap<string, string> = new Map(),
): Promise<Examples> {
  const source = sourceOf(benchmark, split)
  const paths = source.files.map(({ file }) => given.get(file) ?? locateFile(root, file))
  const before = examples.count
  const beside = (name: string) => given.get(name) ?? join(root, name)
  await benchmark.read({ split, paths, beside }, examples)
  const found = examples.count - before
  if (found === source.examples) return examples
  throw new DataError(
    `${found} examples, but the split '${split}' of ${benchmark.name} has ${source.examples}: ` +
      'the file is truncated, or of another version.',
    { file: paths.join(', ') },
  )
}

/** Throws an error that lists the existing splits. */
export function sourceOf({ name, splits }: Benchmark, split: string): SplitSource {
  const source = Object.hasOwn(splits, split) ? splits[split] : undefined
  if (source !== undefined) return source
  throw new TaskSetError(`${name} has no split '${split}'; it has ${Object.keys(splits).join(', ')}.`)
}
