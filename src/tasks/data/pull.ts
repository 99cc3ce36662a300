// Fetches the official files of a benchmark, at pinned revisions, and imports them.
import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { Problem } from '../../problem.ts'
import { type DownloadOptions, download } from '../../store/download.ts'
import { hubEndpoint, hubRepositoryFolder, hubToken, isOffline } from '../../store/hub.ts'
import { type Benchmark, type Repository, type SplitFile, sourceOf } from '../benchmarks/benchmark.ts'
import { isFile, storedName } from '../sources/data-folder.ts'
import { type ImportedSplit, importFiles } from './import-files.ts'
import { extractTables } from './table-archive.ts'

export interface PullOptions {
  readonly signal?: AbortSignal | undefined
  /** All by default. */
  readonly splits?: readonly string[] | undefined
  /** Takes the place of https://raw.githubusercontent.com, https://codeload.github.com and the hub. */
  readonly mirror?: string | undefined
  readonly environment?: NodeJS.ProcessEnv
  readonly onProgress?: (progress: PullProgress) => void
  readonly pauses?: DownloadOptions['pauses']
}

export interface PullProgress {
  readonly file: string
  readonly received: number
  readonly total: number | undefined
}

export interface Pulled {
  readonly splits: readonly ImportedSplit[]
  /** `checked`: against a digest that is known or that the hub states; the others by their content alone. */
  readonly files: readonly { file: string; url: string; sha256: string; checked: boolean }[]
}

export async function pullBenchmark(
  dataFolder: string,
  benchmark: Benchmark,
  options: PullOptions = {},
): Promise<Pulled> {
  const { environment = process.env, mirror, splits = Object.keys(benchmark.splits) } = options
  const { source, tables } = benchmark
  const folder = join(downloadFolder(environment), benchmark.name)
  const given = new Map<string, string>()
  const fetched: Pulled['files'][number][] = []
  const fetchFile = async (file: string, url: string, target: string, published: SplitFile['published']) => {
    refuseOffline(environment)
    const { bytes, sha256: expected } = published ?? {}
    // The hub's token is for the hub, or for the server that HF_ENDPOINT names in its place.
    const isHub = source.host === 'hub' && mirror === undefined
    const token = isHub ? hubToken(environment) : undefined
    const digest = bytes === undefined || expected === undefined ? undefined : { bytes, sha256: expected }
    const { sha256, checked } = await download(
      { url, target, token, digest },
      {
        signal: options.signal,
        pauses: options.pauses,
        onProgress: (progress) => options.onProgress?.({ file, ...progress }),
      },
    )
    fetched.push({ file, url, sha256, checked })
  }

  for (const { file, published } of splits.flatMap((split) => sourceOf(benchmark, split).files)) {
    if (published === undefined) continue
    const { path } = published
    const cached = cachedFile(source, path, environment)
    const target = cached ?? join(folder, source.revision, path)
    if (cached === undefined)
      await fetchFile(storedName(file, path), urlOf(source, path, mirror, environment), target, published)
    given.set(file, target)
  }
  if (tables !== undefined && countFiles(join(dataFolder, tables.folder)) < tables.count) {
    const { repository, revision } = source
    const archive = join(folder, `${revision}.tar.gz`)
    const base = baseOf(mirror ?? 'https://codeload.github.com')
    await fetchFile('tabfact tables', `${base}/${repository}/tar.gz/${revision}`, archive, undefined)
    const target = join(folder, revision, 'all_csv')
    await extractTables(archive, target)
    given.set(tables.folder, target)
  }
  return { splits: await importFiles(dataFolder, benchmark, given), files: fetched }
}

/** Files on their way; not in the data folder, since what is there is complete. */
function downloadFolder(environment: NodeJS.ProcessEnv): string {
  const cache = environment['XDG_CACHE_HOME']
  const base = cache !== undefined && isAbsolute(cache) ? cache : join(homedir(), '.cache')
  return join(base, 'magic', 'downloads')
}

function countFiles(folder: string): number {
  try {
    return readdirSync(folder).length
  } catch {
    return 0
  }
}

/** A hub file that Python or another program has already fetched at this revision. */
function cachedFile(source: Repository, path: string, environment: NodeJS.ProcessEnv): string | undefined {
  if (source.host !== 'hub') return undefined
  const folder = hubRepositoryFolder('datasets', source.repository, environment)
  const cached = join(folder, 'snapshots', source.revision, path)
  return isFile(cached) ? cached : undefined
}

function urlOf(
  { host, repository, revision }: Repository,
  path: string,
  mirror: string | undefined,
  environment: NodeJS.ProcessEnv,
): string {
  if (host === 'github')
    return `${baseOf(mirror ?? 'https://raw.githubusercontent.com')}/${repository}/${revision}/${path}`
  const base = mirror === undefined ? hubEndpoint(environment) : baseOf(mirror)
  return `${base}/datasets/${repository}/resolve/${revision}/${path}`
}

function baseOf(address: string): string {
  return address.replace(/\/+$/, '')
}

function refuseOffline(environment: NodeJS.ProcessEnv): void {
  if (isOffline(environment))
    throw new Problem('HF_HUB_OFFLINE is set: nothing is fetched. Unset it, or import files you have.')
}
