// Fetches the official files of a benchmark, at pinned revisions, and imports them.
import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { type DownloadOptions, download } from '../store/download.ts'
import { hubEndpoint, hubRepositoryFolder, hubToken, isOffline } from '../store/hub.ts'
import { type BenchmarkName, declaredFiles, splitOf, tabfactTables } from './benchmark.ts'
import { isFile, stemOf } from './data-folder.ts'
import { type ImportedSplit, importFiles } from './import-files.ts'
import { type OfficialFile, officialFiles } from './official-files.ts'
import { extractTables } from './tar-tables.ts'

export interface PullOptions {
  readonly signal?: AbortSignal | undefined
  /** All, without it. */
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

const tabfactTableCount = 16_573

export async function pullBenchmark(
  dataFolder: string,
  benchmark: BenchmarkName,
  options: PullOptions = {},
): Promise<Pulled> {
  const environment = options.environment ?? process.env
  const wanted = officialFiles[benchmark].filter((file) => isWanted(benchmark, file, options.splits))
  const given = new Map<string, string>()
  const fetched: Pulled['files'][number][] = []
  const folder = join(downloadFolder(environment), benchmark)
  const fetchTo = async (file: string, target: string, url: string, source: OfficialFile | undefined) => {
    const token = tokenFor(source, options.mirror, environment)
    const request = { url, target, digest: source?.digest, token }
    const { sha256, checked } = await download(request, {
      signal: options.signal,
      pauses: options.pauses,
      onProgress: (progress) => options.onProgress?.({ file, ...progress }),
    })
    fetched.push({ file, url, sha256, checked })
  }
  for (const source of wanted) {
    const cached = cachedFile(source, environment)
    const target = cached ?? join(folder, source.revision, source.path)
    given.set(declaredName(benchmark, source), target)
    if (cached !== undefined) continue
    refuseOffline(environment)
    await fetchTo(source.file, target, urlOf(source, options.mirror, environment), source)
  }
  let tables: string | undefined
  if (benchmark === 'tabfact' && !hasAllTables(dataFolder)) {
    const [{ repository, revision }] = officialFiles.tabfact as [OfficialFile]
    refuseOffline(environment)
    const archive = join(folder, `${revision}.tar.gz`)
    const base = baseOf(options.mirror ?? 'https://codeload.github.com')
    await fetchTo('tabfact tables', archive, `${base}/${repository}/tar.gz/${revision}`, undefined)
    tables = join(folder, revision, 'all_csv')
    await extractTables(archive, tables)
  }
  return { splits: await importFiles(dataFolder, benchmark, { files: given, tables }), files: fetched }
}

/** Files on their way; not in the data folder, since what is there is complete. */
function downloadFolder(environment: NodeJS.ProcessEnv): string {
  const cache = environment['XDG_CACHE_HOME']
  const base = cache !== undefined && isAbsolute(cache) ? cache : join(homedir(), '.cache')
  return join(base, 'magic', 'downloads')
}

function isWanted(
  benchmark: BenchmarkName,
  file: OfficialFile,
  splits: readonly string[] | undefined,
): boolean {
  if (splits === undefined) return true
  return splits.some((split) =>
    splitOf(benchmark, split).files.some((declared) => stemOf(declared) === stemOf(file.file)),
  )
}

/** The name under which the benchmark lists the file, whatever format the official one has. */
function declaredName(benchmark: BenchmarkName, { file }: OfficialFile): string {
  return declaredFiles(benchmark).find((declared) => stemOf(declared) === stemOf(file)) ?? file
}

function hasAllTables(dataFolder: string): boolean {
  try {
    return readdirSync(join(dataFolder, tabfactTables)).length >= tabfactTableCount
  } catch {
    return false
  }
}

/** A hub file that Python's or another program has already fetched at this revision. */
function cachedFile(
  { host, repository, revision, path }: OfficialFile,
  environment: NodeJS.ProcessEnv,
): string | undefined {
  if (host !== 'hub') return undefined
  const folder = hubRepositoryFolder('datasets', repository, environment)
  const cached = join(folder, 'snapshots', revision, path)
  return isFile(cached) ? cached : undefined
}

function urlOf(file: OfficialFile, mirror: string | undefined, environment: NodeJS.ProcessEnv): string {
  const { host, repository, revision, path } = file
  if (host === 'github')
    return `${baseOf(mirror ?? 'https://raw.githubusercontent.com')}/${repository}/${revision}/${path}`
  const base = mirror === undefined ? hubEndpoint(environment) : baseOf(mirror)
  return `${base}/datasets/${repository}/resolve/${revision}/${path}`
}

/** The hub's token is for the hub, or for the server that HF_ENDPOINT names in its place. */
function tokenFor(
  source: OfficialFile | undefined,
  mirror: string | undefined,
  environment: NodeJS.ProcessEnv,
): string | undefined {
  if (source?.host !== 'hub' || mirror !== undefined) return undefined
  return hubToken(environment)
}

function baseOf(address: string): string {
  return address.replace(/\/+$/, '')
}

export class OfflineError extends Error {
  override readonly name = 'OfflineError'
}

function refuseOffline(environment: NodeJS.ProcessEnv): void {
  if (isOffline(environment))
    throw new OfflineError('HF_HUB_OFFLINE is set: nothing is fetched. Unset it, or import files you have.')
}
