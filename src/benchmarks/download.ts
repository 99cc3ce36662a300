// Fetches a file over HTTP. What has come stays in `<target>.part`, so that the next attempt, or the next command, goes on
// from there; the target appears only once size and digest are right.
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface DownloadRequest {
  readonly url: string
  readonly target: string
  readonly digest?: { readonly bytes: number; readonly sha256: string }
  /** Sent to the origin of `url` alone, not to where it redirects. */
  readonly token?: string | undefined
}

export interface DownloadOptions {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: (progress: { received: number; total: number | undefined }) => void
  /** Milliseconds to wait before each further attempt. */
  readonly pauses?: readonly number[]
  /** Milliseconds without a byte after which an attempt is given up. */
  readonly stall?: number
}

/** A file that cannot be had. `transient`: asking again may help. */
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

/** Gives the SHA-256 of the file, checked against the one that is known or that the hub states, if any. */
export async function download(
  request: DownloadRequest,
  options: DownloadOptions = {},
): Promise<{ sha256: string; checked: boolean }> {
  const { url, target, digest } = request
  if (digest !== undefined && sizeOf(target) === digest.bytes && (await sha256Of(target)) === digest.sha256)
    return { sha256: digest.sha256, checked: true }
  await mkdir(dirname(target), { recursive: true })
  const part = `${target}.part`
  const pauses = options.pauses ?? [1000, 2000, 4000]
  let stated: string | undefined
  for (let attempt = 0; ; attempt += 1) {
    try {
      stated = await fetchRest(request, part, options)
      break
    } catch (error) {
      options.signal?.throwIfAborted()
      const pause = pauses[attempt]
      if (!(error instanceof DownloadError && error.transient) || pause === undefined) throw error
      await sleep(pause, undefined, { signal: options.signal })
    }
  }
  const sha256 = await sha256Of(part)
  const expected = digest?.sha256 ?? stated
  if (expected !== undefined && sha256 !== expected) {
    await rm(part)
    throw new DownloadError(url, `has the SHA-256 ${sha256}, expected is ${expected}. It was thrown away.`)
  }
  await rename(part, target)
  return { sha256, checked: expected !== undefined }
}

/** One attempt. Gives the digest that the server states, if it does. */
async function fetchRest(
  { url, digest, token }: DownloadRequest,
  part: string,
  { signal, onProgress, stall = 30_000 }: DownloadOptions,
): Promise<string | undefined> {
  const most = digest?.bytes ?? mostBytes
  const have = sizeOf(part) ?? 0
  if (have === digest?.bytes) return undefined
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(new Error(`no byte for ${stall / 1000} s`)), stall)
  const signals = signal === undefined ? [stalled.signal] : [signal, stalled.signal]
  try {
    const { response, stated } = await follow(url, have, token, AbortSignal.any(signals))
    const resumed = response.status === 206 && startOf(response) === have
    if (response.status === 416 || (response.status === 206 && !resumed)) {
      await rm(part, { force: true })
      throw new DownloadError(url, 'the server has no such part; starting over.', { transient: true })
    }
    if (response.status !== 200 && response.status !== 206) throw refusal(url, response)
    const length = Number(response.headers.get('content-length') ?? Number.NaN)
    let received = resumed ? have : 0
    const total = digest?.bytes ?? (Number.isFinite(length) ? received + length : undefined)
    await using file = await open(part, resumed ? 'a' : 'w')
    for await (const chunk of response.body ?? []) {
      timer.refresh()
      received += chunk.length
      if (received > most) {
        await rm(part, { force: true })
        throw new DownloadError(url, `is longer than ${most} bytes. It was thrown away.`)
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
    if (error instanceof DownloadError || isDiskError(error)) throw error
    throw new DownloadError(url, `the connection failed (${reasonOf(error)}).`, {
      transient: true,
      cause: error,
    })
  } finally {
    clearTimeout(timer)
    stalled.abort()
  }
}

/** Follows redirects to https, or to this machine, only. */
async function follow(
  start: string,
  have: number,
  token: string | undefined,
  signal: AbortSignal,
): Promise<{ response: Response; stated: string | undefined }> {
  let url = allowed(start, start)
  let stated: string | undefined
  for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
    const own = url.origin === new URL(start).origin
    const response = await fetch(url, {
      redirect: 'manual',
      signal,
      headers: {
        // Digests and ranges are of the file as it is.
        'accept-encoding': 'identity',
        ...(have > 0 ? { range: `bytes=${have}-` } : {}),
        ...(own && token !== undefined ? { authorization: `Bearer ${token}` } : {}),
      },
    })
    // Of a large file the hub tells the SHA-256 before it redirects to the storage.
    if (own) stated = /^"?([0-9a-f]{64})"?$/.exec(response.headers.get('x-linked-etag') ?? '')?.[1] ?? stated
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
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback))
    throw new DownloadError(
      start,
      address === start
        ? 'only https is used, and http on this machine.'
        : `redirects to ${url.protocol}//${url.host}, which is neither https nor this machine.`,
    )
  return url
}

function refusal(url: string, { status }: Response): DownloadError {
  if (status === 401 || status === 403)
    return new DownloadError(
      url,
      `status ${status}; for a hub file, set HF_TOKEN to a token that may read it.`,
    )
  if (status === 404)
    return new DownloadError(url, 'status 404; it is not there (any more). Use --mirror, or import the file.')
  const transient = status === 408 || status === 429 || status >= 500
  return new DownloadError(url, `status ${status}.`, { transient })
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
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

function isDiskError(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'EPERM'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  )
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  return (
    (cause as NodeJS.ErrnoException | undefined)?.code ?? (cause as Error | undefined)?.message ?? message
  )
}

/** Signed addresses carry secrets behind the question mark. */
function withoutQuery(address: string): string {
  return address.replace(/[?#].*$/s, '')
}
