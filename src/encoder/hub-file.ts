import { copyFile, mkdir, rename, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { exitCode, Problem } from '../problem.ts'
import { DownloadError, type DownloadOptions, download, hasDigest } from '../store/download/download.ts'
import { hubEndpoint, hubRepositoryFolder, hubToken, isOffline } from '../store/download/hub.ts'

/** A file of a model on the Hugging Face hub, pinned to a commit and its contents. */
interface HubFile {
  /** `organisation/name`. */
  readonly repository: string
  readonly commit: string
  readonly path: string
  readonly sha256: string
}

export interface HubOptions extends Pick<DownloadOptions, 'signal' | 'pauses' | 'onProgress'> {
  /** `HF_HUB_CACHE`, `HF_HOME`, `XDG_CACHE_HOME`, `HF_ENDPOINT`, `HF_TOKEN`, `HF_HUB_OFFLINE`. */
  readonly environment?: NodeJS.ProcessEnv
}

export class HubUnavailableError extends Problem {
  constructor({ repository, path }: HubFile, problem: string, options?: ErrorOptions) {
    super(`${repository}/${path} cannot be fetched: ${problem}`, { ...options, exitCode: exitCode.failed })
  }
}

/**
 * The path of a hub file in the cache shared by all Hugging Face tools, downloaded if missing or damaged. The
 * returned file always has the right digest.
 */
export async function hubFile(file: HubFile, options: HubOptions = {}): Promise<string> {
  const { repository, commit, path, sha256 } = file
  const { environment = process.env } = options
  const folder = hubRepositoryFolder('models', repository, environment)
  const snapshot = join(folder, 'snapshots', commit, path)
  if (await hasDigest(snapshot, { sha256 })) return snapshot
  if (isOffline(environment))
    throw new HubUnavailableError(file, 'it is not in the cache, and HF_HUB_OFFLINE is set')
  const blob = join(folder, 'blobs', sha256)
  const request = {
    url: `${hubEndpoint(environment)}/${repository}/resolve/${commit}/${path}`,
    target: blob,
    digest: { sha256 },
    token: hubToken(environment),
    // Our own lock file: Python's tools lock differently.
    lock: join(folder, '..', '.locks', basename(folder), `${sha256}.magic.lock`),
  }
  await download(request, options).catch((error: unknown) => {
    if (!(error instanceof DownloadError)) throw error
    throw new HubUnavailableError(file, error.message, { cause: error })
  })
  await link(blob, snapshot)
  return snapshot
}

/** Links the blob into the snapshot atomically, so that other processes never see it half done. */
async function link(blob: string, snapshot: string): Promise<void> {
  await mkdir(dirname(snapshot), { recursive: true })
  const unfinished = `${snapshot}.${process.pid}-${Math.random().toString(36).slice(2)}`
  try {
    // If only administrators may create links, the file is stored twice, as Python does.
    await symlink(relative(dirname(snapshot), blob), unfinished).catch(() => copyFile(blob, unfinished))
    await rename(unfinished, snapshot)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}
