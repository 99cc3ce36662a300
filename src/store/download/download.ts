// Downloads a file over HTTP. Received bytes stay in `<target>.part`, so that the next attempt, or the next command,
// continues from there. The target appears only once size and digest are right.
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { withFileLock } from '../file-lock.ts'

interface KnownDigest {
  readonly bytes?: number
  readonly sha256: string
}

export interface DownloadRequest {
  readonly url: string
  readonly target: string
  /** The expected size and digest, if known. */
  readonly digest?: KnownDigest
  /** Sent only to the origin of `url`, never to redirect targets. */
  readonly token?: string
  /** Keeps other processes from downloading the same file. Default: `<target>.lock`. */
  readonly lock?: string
}

export interface DownloadOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: { received: number; total: number | undefined }) => void
  /** Milliseconds to wait before each further attempt. */
  readonly pauses?: readonly number[]
}

/** A file could not be downloaded. `transient`: trying again may help. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError'
  readonly transient: boolean

  constructor(url: string, problem: string, options: { transient?: boolean; cause?: unknown } = {}) {
    super(`${withoutQuery(url)}: ${problem}`, { cause: options.cause })
    this.transient = options.transient === true
  }
}

const mostBytes = 2 ** 32
const mostRedirects = 5
const answerMilliseconds = 10_000
const stallMilliseconds = 30_000
const defaultPauses = [500, 1000, 2000, 4000, 8000]

interface Downloaded {
  readonly sha256: string
  /** Whether it was checked against the given digest or the hub's. */
  readonly checked: boolean
}

export async function download(request: DownloadRequest, options: DownloadOptions = {}): Promise<Downloaded> {
  const { target, digest, lock = `${target}.lock` } = request
  await mkdir(dirname(target), { recursive: true })
  const work = async () => {
    // Another process may have downloaded it while this one waited for the lock.
    if (digest !== undefined && (await hasDigest(target, digest)))
      return { sha256: digest.sha256, checked: true }
    return fetchWhole(request, options)
  }
  return withFileLock(lock, work, options.signal)
}

/** Whether a file exists with this digest. */
export async function hasDigest(path: string, { bytes, sha256 }: KnownDigest): Promise<boolean> {
  const size = sizeOf(path)
  if (size === undefined || (bytes !== undefined && size !== bytes)) return false
  return (await sha256Of(path)) === sha256
}

/** Retries transient failures. A server that never answers is not tried again. */
async function fetchWhole(request: DownloadRequest, options: DownloadOptions): Promise<Downloaded> {
  const { url, target, digest } = request
  const { signal, pauses = defaultPauses } = options
  const part = `${target}.part`
  const isContinued = (sizeOf(part) ?? 0) > 0
  let stated: string | undefined
  for (let attempt = 0; ; attempt += 1) {
    try {
      stated = await fetchRest(request, part, options, attempt > 0)
      break
    } catch (error) {
      signal?.throwIfAborted()
      const pause = pauses[attempt]
      if (!(error instanceof DownloadError && error.transient) || pause === undefined) throw error
      await sleep(pause, undefined, { signal })
    }
  }
  const sha256 = await sha256Of(part)
  const expected = digest?.sha256 ?? stated
  if (expected === undefined || sha256 === expected) {
    await rename(part, target)
    return { sha256, checked: expected !== undefined }
  }
  await rm(part)
  // An earlier process may have left a damaged part: start over once.
  if (isContinued) return fetchWhole(request, options)
  throw new DownloadError(url, `has SHA-256 ${sha256} instead of ${expected}. It was discarded.`)
}

/** One attempt to download the rest. Returns the digest stated by the server, if any. */
async function fetchRest(
  { url, digest, token }: DownloadRequest,
  part: string,
  { signal, onProgress }: DownloadOptions,
  hasAnsweredBefore: boolean,
): Promise<string | undefined> {
  const most = digest?.bytes ?? mostBytes
  const present = sizeOf(part) ?? 0
  if (present === digest?.bytes) return undefined
  const silence = new AbortController()
  const giveUp = () => silence.abort(new Error('no answer in time'))
  let timer = setTimeout(giveUp, answerMilliseconds)
  let hasAnswered = hasAnsweredBefore
  try {
    const until = AbortSignal.any(signal === undefined ? [silence.signal] : [signal, silence.signal])
    const { response, stated } = await follow(url, present, token, until)
    hasAnswered = true
    clearTimeout(timer)
    timer = setTimeout(giveUp, stallMilliseconds)
    const isRest = response.status === 206 && startOf(response) === present
    if (response.status === 416 || (response.status === 206 && !isRest)) {
      await rm(part, { force: true })
      throw new DownloadError(url, 'the server has no such part; starting over.', { transient: true })
    }
    if (response.status !== 200 && !isRest) throw refusal(url, response)
    const length = Number(response.headers.get('content-length') ?? Number.NaN)
    let received = isRest ? present : 0
    const total = digest?.bytes ?? (Number.isFinite(length) ? received + length : undefined)
    await using file = await open(part, isRest ? 'a' : 'w')
    for await (const chunk of response.body ?? []) {
      timer.refresh()
      received += chunk.length
      if (received > most) {
        await rm(part, { force: true })
        throw new DownloadError(url, `is longer than ${most} bytes. It was discarded.`)
      }
      await file.write(chunk)
      onProgress?.({ received, total })
    }
    if (total !== undefined && received < total)
      throw new DownloadError(url, `ended after ${received} of ${total} bytes.`, { transient: true })
    await file.sync()
    return stated
  } catch (error) {
    signal?.throwIfAborted()
    const { code, cause, message } = error as NodeJS.ErrnoException
    if (error instanceof DownloadError || diskErrors.includes(code ?? '')) throw error
    const { code: reason, message: detail } = (cause ?? {}) as Partial<NodeJS.ErrnoException>
    const problem = `the connection failed (${reason ?? detail ?? message}).`
    throw new DownloadError(url, problem, { transient: hasAnswered, cause: error })
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}

const diskErrors = ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'EPERM']

/** Follows redirects, but only to https or to this machine. */
async function follow(
  start: string,
  present: number,
  token: string | undefined,
  signal: AbortSignal,
): Promise<{ response: Response; stated: string | undefined }> {
  let url = allowed(start, start)
  const { origin } = url
  let stated: string | undefined
  for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
    const isOwn = url.origin === origin
    // Digests and ranges are those of the uncompressed file.
    const headers = new Headers({ 'accept-encoding': 'identity' })
    if (present > 0) headers.set('range', `bytes=${present}-`)
    if (isOwn && token !== undefined) headers.set('authorization', `Bearer ${token}`)
    const response = await fetch(url, { redirect: 'manual', signal, headers })
    // The hub states the SHA-256 of a large file before it redirects to the storage.
    const etag = isOwn ? response.headers.get('x-linked-etag') : null
    stated = /^"?([0-9a-f]{64})"?$/.exec(etag ?? '')?.[1] ?? stated
    const location = response.headers.get('location')
    if (response.status < 300 || response.status >= 400 || location === null) return { response, stated }
    await response.body?.cancel()
    url = allowed(new URL(location, url).href, start)
  }
  throw new DownloadError(start, `redirects more than ${mostRedirects} times.`)
}

function allowed(address: string, start: string): URL {
  const url = URL.parse(address)
  if (url === null) throw new DownloadError(start, 'is not a web address.')
  if (url.username !== '' || url.password !== '')
    throw new DownloadError(start, 'the address must not contain a user or password; give a token instead.')
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)) return url
  throw new DownloadError(
    start,
    address === start
      ? 'the address must use https, or http on this machine.'
      : `redirects to ${url.protocol}//${url.host}, which is neither https nor this machine.`,
  )
}

function refusal(url: string, { status, headers }: Response): DownloadError {
  const code = headers.get('x-error-code')
  const reason = code !== null && /^\w+$/.test(code) ? ` (${code})` : ''
  let remedy = '.'
  if (status === 401 || status === 403) remedy = '; for a hub file, set HF_TOKEN to a token that may read it.'
  if (status === 404) remedy = '; the file does not exist (any more).'
  const transient = status === 408 || status === 429 || status >= 500
  return new DownloadError(url, `status ${status}${reason}${remedy}`, { transient })
}

function startOf(response: Response): number | undefined {
  const start = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1]
  return start === undefined ? undefined : Number(start)
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Signed URLs have secrets in the query; some have a password. */
function withoutQuery(address: string): string {
  return address.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//')
}
