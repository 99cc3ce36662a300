import { copyFile, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'

/** The folder that Python's huggingface_hub uses as well. */
export function hubCacheFolder(environment: NodeJS.ProcessEnv): string {
  const { HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME } = environment
  if (HF_HUB_CACHE) return withHome(HF_HUB_CACHE)
  if (HF_HOME) return join(withHome(HF_HOME), 'hub')
  return join(XDG_CACHE_HOME ? withHome(XDG_CACHE_HOME) : join(homedir(), '.cache'), 'huggingface', 'hub')
}

function withHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
}

/** Where one repository's files lie: contents in `blobs`, names in `snapshots`, branches in `refs`. */
export class CachedRepository {
  readonly #folder: string
  readonly #locks: string

  constructor(cache: string, repository: string) {
    const name = `models--${repository.replace('/', '--')}`
    this.#folder = join(cache, name)
    this.#locks = join(cache, '.locks', name)
  }

  blob(etag: string): string {
    return join(this.#folder, 'blobs', etag)
  }

  /** Our own, beside those of Python, which locks in another way. */
  lock(etag: string): string {
    return join(this.#locks, `${etag}.magic.lock`)
  }

  /** The commit that a branch or tag had when it was last looked up; a commit stands for itself. */
  async commitOf(revision: string): Promise<string | undefined> {
    if (isCommit(revision)) return revision
    const commit = await readFile(this.#ref(revision), 'utf8').catch(() => '')
    return isCommit(commit.trim()) ? commit.trim() : undefined
  }

  async rememberCommit(revision: string, commit: string): Promise<void> {
    if (isCommit(revision)) return
    await replaceWith(this.#ref(revision), (path) => writeFile(path, commit))
  }

  file(commit: string, file: string): string {
    return join(this.#folder, 'snapshots', commit, file)
  }

  /** Gives a blob its name in a snapshot. */
  async nameBlob(commit: string, file: string, etag: string): Promise<void> {
    const name = this.file(commit, file)
    const target = relative(dirname(name), this.blob(etag))
    // Some systems let only administrators make links; there the file is kept twice, as Python does it.
    await replaceWith(name, (path) => symlink(target, path).catch(() => copyFile(this.blob(etag), path)))
  }

  #ref(revision: string): string {
    return join(this.#folder, 'refs', revision)
  }
}

export function isCommit(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text)
}

/** All or nothing, also beside other processes that do the same: under another name first, then renamed. */
async function replaceWith(path: string, write: (path: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const unfinished = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}`
  try {
    await write(unfinished)
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}
