import { isCommit } from './hub-cache.ts'

/** A file of a model on the Hugging Face hub, in one state of its repository. */
export interface HubFile {
  /** `organisation/name`. */
  readonly repository: string
  /** A commit; a branch or tag works too but may change. */
  readonly revision: string
  readonly path: string
  /** If it is known beforehand; else the hub's own word is taken. */
  readonly sha256?: string
}

export interface RemoteFile {
  readonly commit: string
  /** SHA-256 of a large file, git's SHA-1 of a small one. Names the contents in the cache. */
  readonly etag: string
  readonly size: number
}

/** A file that cannot be had, and why. */
export class HubUnavailableError extends Error {
  override name = 'HubUnavailableError'
  /** Whether asking again may help: the connection broke, or the server was busy. */
  readonly transient: boolean
  /** The server's, if it has answered at all. */
  readonly status: number | undefined
  constructor(file: HubFile, problem: string, { transient = false, status }: HubProblem = {}) {
    super(`${file.repository}/${file.path} cannot be fetched: ${problem}`)
    this.transient = transient
    this.status = status
  }
}

interface HubProblem {
  readonly transient?: boolean
  readonly status?: number
}

interface RequestOptions {
  readonly headers?: Record<string, string>
  readonly isAnswer?: (response: Response) => boolean
  readonly signal?: AbortSignal | undefined
}

const mostRedirects = 5
const answerMilliseconds = 10_000

/** Speaks to the hub, or to the mirror that `HF_ENDPOINT` names. Knows nothing of the cache. */
export class HubConnection {
  readonly #endpoint: string
  readonly #token: string | undefined

  constructor({ HF_ENDPOINT, HF_TOKEN }: NodeJS.ProcessEnv) {
    this.#endpoint = (HF_ENDPOINT || 'https://huggingface.co').replace(/\/+$/, '')
    this.#token = HF_TOKEN?.trim() || undefined
  }

  async describe(file: HubFile, signal?: AbortSignal): Promise<RemoteFile> {
    // For a large file the hub's own answer counts, not that of the storage it redirects to.
    const isAnswer = ({ headers }: Response) => headers.has('x-linked-etag') && headers.has('x-linked-size')
    const { response } = await this.#request(file, 'HEAD', { isAnswer, signal })
    assertFound(file, response)
    const header = (name: string) => response.headers.get(name) ?? undefined
    const etag = (header('x-linked-etag') ?? header('etag') ?? '').replace(/^W\//, '').replaceAll('"', '')
    const commit = header('x-repo-commit') ?? file.revision
    const size = Number(header('x-linked-size') ?? header('content-length') ?? Number.NaN)
    // These become names of files: nothing but hexadecimal digits is let through.
    if (!isCommit(commit)) throw new HubUnavailableError(file, 'its commit is not known')
    if (isCommit(file.revision) && commit !== file.revision)
      throw new HubUnavailableError(file, `commit ${commit} was offered instead of ${file.revision}`)
    if (!Number.isSafeInteger(size) || size < 0) throw new HubUnavailableError(file, 'its size is not known')
    return { commit, etag: contentName(file, etag), size }
  }

  /** The file's bytes from an offset on, or from the start if the server cannot do that (status 200). */
  async download(file: HubFile, offset: number, signal?: AbortSignal): Promise<Response> {
    const range: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {}
    const { response, abort } = await this.#request(file, 'GET', { headers: range, signal })
    if (response.status !== 416) assertFound(file, response, abort)
    return response
  }

  /** Follows redirects, up to an answer that will do. */
  async #request(
    file: HubFile,
    method: 'HEAD' | 'GET',
    { headers = {}, isAnswer = () => false, signal }: RequestOptions,
  ): Promise<{ response: Response; abort: () => void }> {
    let url = this.#urlOf(file)
    const ownOrigin = url.origin
    const canceller = new AbortController()
    const signals = signal ? [signal, canceller.signal] : [canceller.signal]
    for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
      const timer = setTimeout(() => canceller.abort(new Error('no answer in time')), answerMilliseconds)
      const response = await fetch(url, {
        method,
        redirect: 'manual',
        signal: AbortSignal.any(signals),
        // Checksums and ranges are of the file as it is, not of a compressed one.
        headers: { ...headers, 'accept-encoding': 'identity', ...this.#credentials(url, ownOrigin) },
      })
        .catch((error: unknown) => {
          signal?.throwIfAborted()
          throw new HubUnavailableError(file, `${url.host} does not answer (${reasonOf(error)})`, {
            transient: true,
          })
        })
        .finally(() => clearTimeout(timer))
      const location = response.headers.get('location')
      const next = location === null ? null : URL.parse(location, url.href)
      const isRedirect = response.status >= 300 && response.status < 400 && next !== null
      if (!isRedirect || isAnswer(response)) return { response, abort: () => canceller.abort() }
      if (next.protocol !== 'https:' && next.protocol !== ownOrigin.split('/')[0])
        throw new HubUnavailableError(file, `${url.host} redirects to ${next.protocol}`)
      await response.body?.cancel()
      url = next
    }
    throw new HubUnavailableError(file, `more than ${mostRedirects} redirects`)
  }

  /** The token is for the configured server alone: storage that it redirects to has signed addresses. */
  #credentials(url: URL, ownOrigin: string): Record<string, string> {
    return this.#token !== undefined && url.origin === ownOrigin
      ? { authorization: `Bearer ${this.#token}` }
      : {}
  }

  #urlOf(file: HubFile): URL {
    assertPlainNames(file)
    const path = [file.repository, 'resolve', encodeURIComponent(file.revision), file.path].join('/')
    const url = URL.parse(`${this.#endpoint}/${path}`)
    // The value itself is not shown: it may hold a password.
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
      throw new HubUnavailableError(file, 'HF_ENDPOINT must be an http(s) address without user and password')
    return url
  }
}

/** Names become paths in the cache. */
export function assertPlainNames(file: HubFile): void {
  const plain = /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/
  const isRepository = plain.test(file.repository) && file.repository.split('/').length === 2
  if (!isRepository || !plain.test(file.revision) || !plain.test(file.path))
    throw new HubUnavailableError(file, `'${file.revision}' or a name is not a plain path`)
}

/** What the contents are called in the cache. Without any digest there is nothing to check them by. */
function contentName({ sha256, ...file }: HubFile, etag: string): string {
  if (/^[0-9a-f]{64}$/.test(etag)) {
    if (sha256 === undefined || sha256 === etag) return etag
    throw new HubUnavailableError(file, `the hub has contents ${etag}, expected are ${sha256}`)
  }
  if (/^[0-9a-f]{40}$/.test(etag)) return etag
  if (sha256 !== undefined) return sha256
  throw new HubUnavailableError(file, 'the server names no digest to verify it with')
}

function assertFound(file: HubFile, { status, headers }: Response, abort = () => {}): void {
  if (status < 400) return
  abort()
  const reason = headers.get('x-error-code')
  const problem = `status ${status}${reason && /^\w+$/.test(reason) ? ` (${reason})` : ''}`
  if (status === 401 || status === 403)
    throw new HubUnavailableError(file, `${problem}; set HF_TOKEN to a token that may read it`)
  const transient = status >= 500 || status === 429 || status === 408
  throw new HubUnavailableError(file, problem, { transient, status })
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  const { code, message: detail } = (cause ?? {}) as Partial<NodeJS.ErrnoException>
  return code ?? detail ?? message
}
