import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { withFileLock } from './file-lock.ts'
import { CachedRepository, hubCacheFolder } from './hub-cache.ts'
import { assertPlainNames, HubConnection, type HubFile, HubUnavailableError } from './hub-connection.ts'

export interface DownloadProgress {
  readonly path: string
  readonly received: number
  readonly total: number
}

export interface HubOptions {
  /** `HF_HUB_CACHE`, `HF_HOME`, `XDG_CACHE_HOME`, `HF_ENDPOINT`, `HF_TOKEN`, `HF_HUB_OFFLINE`. */
  readonly environment?: NodeJS.ProcessEnv
  readonly onProgress?: (progress: DownloadProgress) => void
  readonly signal?: AbortSignal
  /** Before a download that broke off goes on; twice as long each time. */
  readonly retryMilliseconds?: number
}

const attempts = 6
const silenceMilliseconds = 30_000

/**
 * The path of a hub file in the cache that all Hugging Face tools share; fetched if it is not there yet.
 * Whatever is returned has the right digest. A download that was broken off, by whatever, goes on where it
 * ended.
 */
export async function hubFile(file: HubFile, options: HubOptions = {}): Promise<string> {
  assertPlainNames(file)
  const environment = options.environment ?? process.env
  const repository = new CachedRepository(hubCacheFolder(environment), file.repository)
  const cached = await findCached(repository, file)
  if (cached !== undefined) return cached
  if (isSet(environment['HF_HUB_OFFLINE']))
    throw new HubUnavailableError(file, 'it is not in the cache, and HF_HUB_OFFLINE is set')
  const connection = new HubConnection(environment)
  const { commit, etag, size } = await retried(
    () => connection.describe(file, options.signal),
    // Whoever is offline should hear so at once; a busy server is asked again.
    ({ transient, status }) => transient && status !== undefined,
    options,
  )
  const blob = repository.blob(etag)
  const isRight = (path: string) => hasDigest(path, file.sha256 ?? etag, size)
  await withFileLock(
    repository.lock(etag),
    async () => {
      // Another process may have fetched it while this one waited.
      if (await isRight(blob)) return
      await rm(blob, { force: true })
      await fetchBlob({ file, connection, blob, size, isRight, options })
    },
    options.signal,
  )
  await repository.nameBlob(commit, file.path, etag)
  await repository.rememberCommit(file.revision, commit)
  return repository.file(commit, file.path)
}

async function findCached(repository: CachedRepository, file: HubFile): Promise<string | undefined> {
  const commit = await repository.commitOf(file.revision)
  if (commit === undefined) return undefined
  const path = repository.file(commit, file.path)
  const size = await sizeOf(path)
  if (size === undefined) return undefined
  return file.sha256 === undefined || (await hasDigest(path, file.sha256, size)) ? path : undefined
}

interface Fetching {
  readonly file: HubFile
  readonly connection: HubConnection
  readonly blob: string
  readonly size: number
  readonly isRight: (path: string) => Promise<boolean>
  readonly options: HubOptions
}

async function fetchBlob(fetching: Fetching): Promise<void> {
  const { file, blob, isRight, options } = fetching
  // Not Python's own name for it: its downloads neither know our lock nor check digests.
  const incomplete = `${blob}.magic.incomplete`
  await mkdir(dirname(blob), { recursive: true })
  const isContinued = ((await sizeOf(incomplete)) ?? 0) > 0
  await retried(
    () => receive(fetching, incomplete),
    ({ transient }) => transient,
    options,
  )
  if (await isRight(incomplete)) return rename(incomplete, blob)
  await rm(incomplete)
  // What an earlier process left may have been damaged: it gets one new start.
  if (isContinued) return fetchBlob(fetching)
  throw new HubUnavailableError(file, 'what arrived has the wrong digest and was thrown away')
}

/** Adds what is missing to the incomplete file. */
async function receive(fetching: Fetching, incomplete: string): Promise<void> {
  const { file, connection, size, options } = fetching
  const present = (await sizeOf(incomplete)) ?? 0
  if (present === size && size > 0) return
  const response = await connection.download(file, present > size ? 0 : present, options.signal)
  const isContinuation =
    response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${present}-`) === true
  if (!isContinuation && response.status !== 200) {
    await response.body?.cancel()
    await rm(incomplete, { force: true })
    throw new HubUnavailableError(file, `status ${response.status} for a range`, { transient: true })
  }
  let received = isContinuation ? present : 0
  const output = await open(incomplete, isContinuation ? 'a' : 'w')
  try {
    for await (const chunk of withoutSilence(file, response, options.signal)) {
      received += chunk.length
      if (received > size) throw new HubUnavailableError(file, `more than the announced ${size} bytes came`)
      await output.writeFile(chunk)
      options.onProgress?.({ path: file.path, received, total: size })
    }
    await output.sync()
  } finally {
    await output.close()
  }
  if (received < size)
    throw new HubUnavailableError(file, `only ${received} of ${size} bytes came`, { transient: true })
}

/** The body in pieces. A connection that breaks or falls silent is a transient failure. */
async function* withoutSilence(file: HubFile, { body }: Response, signal: AbortSignal | undefined) {
  if (body === null) return
  const reader = body.getReader()
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), silenceMilliseconds)
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: Error) => {
        signal?.throwIfAborted()
        throw new HubUnavailableError(file, `the connection broke off (${error.message})`, {
          transient: true,
        })
      })
      if (done) return
      timer.refresh()
      yield value as Uint8Array
    }
  } finally {
    clearTimeout(timer)
    await reader.cancel().catch(() => {})
  }
}

async function retried<Result>(
  work: () => Promise<Result>,
  isWorthIt: (error: HubUnavailableError) => boolean,
  { retryMilliseconds = 500, signal }: HubOptions,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt === attempts || !(error instanceof HubUnavailableError) || !isWorthIt(error)) throw error
      await delay(retryMilliseconds * 2 ** (attempt - 1), undefined, { ...(signal && { signal }) })
    }
  }
}

/** By length of the digest: SHA-256, or git's SHA-1 of the contents with their size in front. */
async function hasDigest(path: string, digest: string, size: number): Promise<boolean> {
  if ((await sizeOf(path)) !== size) return false
  const hash = digest.length === 64 ? createHash('sha256') : createHash('sha1').update(`blob ${size}\0`)
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex') === digest
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  )
}

/** As huggingface_hub reads it. */
function isSet(value: string | undefined): boolean {
  return /^(1|true|yes|on)$/i.test(value ?? '')
}
