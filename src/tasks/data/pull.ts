// Downloads the official files of a benchmark at pinned revisions, and imports them.
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { Problem } from '../../problem.ts'
import { type DownloadOptions, download } from '../../store/download/download.ts'
import { hubEndpoint, hubRepositoryFolder, hubToken, isOffline } from '../../store/download/hub.ts'
import { type Benchmark, type SplitFile, sourceOf } from '../benchmarks/benchmark.ts'
import { isFile, storedName } from '../sources/data-folder.ts'
import { type ImportedSplit, importFiles } from './import-files.ts'
import { extractTables } from './table-archive.ts'

export interface PullOptions extends Pick<DownloadOptions, 'signal' | 'pauses'> {
  /** Default: all. */
  readonly splits?: readonly string[]
  /** Replaces https://raw.githubusercontent.com, https://codeload.github.com and the hub. */
  readonly mirror?: string
  readonly environment?: NodeJS.ProcessEnv
  readonly onProgress?: (file: string, progress: DownloadProgress) => void
}

export type DownloadProgress = Parameters<NonNullable<DownloadOptions['onProgress']>>[0]

interface Pulled {
  readonly splits: readonly ImportedSplit[]
  /** `checked`: against a known digest or the hub's; the others only by their content. */
  readonly files: readonly { file: string; url: string; sha256: string; checked: boolean }[]
}

export async function pullBenchmark(
  dataFolder: string,
  benchmark: Benchmark,
  options: PullOptions = {},
): Promise<Pulled> {
  const { environment = process.env, splits = Object.keys(benchmark.splits), signal, pauses } = options
  const { source, tables } = benchmark
  const { repository, revision } = source
  const isHub = source.host === 'hub'
  const mirror = options.mirror?.replace(/\/+$/, '')
  const folder = join(downloadFolder(environment), benchmark.name)
  const given = new Map<string, string>()
  const fetched: Pulled['files'][number][] = []
  const fetchFile = async (file: string, url: string, target: string, known: Partial<SplitFile> = {}) => {
    if (isOffline(environment))
      throw new Problem('HF_HUB_OFFLINE is set: nothing is fetched. Unset it, or import files you have.')
    const { bytes, sha256: expected } = known
    // The hub's token is only for the hub, or the server named by HF_ENDPOINT.
    const token = isHub && mirror === undefined ? hubToken(environment) : undefined
    const digest = bytes === undefined || expected === undefined ? undefined : { bytes, sha256: expected }
    const onProgress = (progress: DownloadProgress) => options.onProgress?.(file, progress)
    const { sha256, checked } = await download({ url, target, token, digest }, { signal, pauses, onProgress })
    fetched.push({ file, url, sha256, checked })
  }

  const base = isHub
    ? `${mirror ?? hubEndpoint(environment)}/datasets/${repository}/resolve/${revision}`
    : `${mirror ?? 'https://raw.githubusercontent.com'}/${repository}/${revision}`
  for (const known of splits.flatMap((split) => sourceOf(benchmark, split).files)) {
    const { file, path } = known
    if (path === undefined) continue
    // Python or another program may have downloaded the hub file at this revision already.
    const cache = hubRepositoryFolder('datasets', repository, environment)
    const cached = join(cache, 'snapshots', revision, path)
    const isCached = isHub && isFile(cached)
    const target = isCached ? cached : join(folder, revision, path)
    if (!isCached) await fetchFile(storedName(file, path), `${base}/${path}`, target, known)
    given.set(file, target)
  }
  const present = tables === undefined ? '' : join(dataFolder, tables.folder)
  if (tables !== undefined && !(existsSync(present) && readdirSync(present).length >= tables.count)) {
    const archive = join(folder, `${revision}.tar.gz`)
    const url = `${mirror ?? 'https://codeload.github.com'}/${repository}/tar.gz/${revision}`
    await fetchFile('tabfact tables', url, archive)
    const target = join(folder, revision, 'all_csv')
    await extractTables(archive, target)
    given.set(tables.folder, target)
  }
  return { splits: await importFiles(dataFolder, benchmark, given), files: fetched }
}

/** For partial downloads, outside the data folder, where everything is complete. */
function downloadFolder({ XDG_CACHE_HOME: cache }: NodeJS.ProcessEnv): string {
  const base = cache !== undefined && isAbsolute(cache) ? cache : join(homedir(), '.cache')
  return join(base, 'magic', 'downloads')
}
