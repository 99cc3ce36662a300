import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { Dispatcher, Pool } from 'undici'

/** An HTTP answer. A 2xx body is complete; another may be cut off. */
export interface HttpAnswer {
  readonly status: number
  readonly contentType: string
  readonly retryAfter?: string
  readonly body: string
}

export interface HttpFailure {
  readonly kind: 'network' | 'timeout' | 'bad_response' | 'cancelled'
  readonly message: string
  readonly status?: number
  /** No connection came about: the server has not seen the request. */
  readonly unsent?: true
}

export interface ExchangeLimits {
  /** From the first step of connecting to the last byte of the body. */
  readonly deadlineMs: number
  readonly maxBodyBytes: number
}

const cancelled: HttpFailure = { kind: 'cancelled', message: 'The call was cancelled.' }

/** What a connection fails with before anything can be sent over it. */
const notConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Enough for any error message. */
const maxErrorBytes = 64 * 1024

/**
 * One POST. Redirects are not followed, the body is capped before and after decompression, and the deadline ends it
 * wherever it hangs. A status that has come counts even if its body never does.
 */
export async function post(
  pool: Pool,
  path: string,
  headers: Record<string, string>,
  body: string,
  { deadlineMs, maxBodyBytes }: ExchangeLimits,
  signal?: AbortSignal,
): Promise<HttpAnswer | HttpFailure> {
  if (signal?.aborted) return { ...cancelled, unsent: true }
  const abort = new AbortController()
  let ended: HttpFailure | undefined
  const end = (how: HttpFailure) => {
    ended ??= how
    abort.abort()
  }
  const timedOut: HttpFailure = {
    kind: 'timeout',
    message: `No complete answer within ${deadlineMs / 1000} s.`,
  }
  const timer = setTimeout(() => end(timedOut), deadlineMs)
  const cancel = () => end(cancelled)
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    const response = await pool.request({
      path,
      method: 'POST',
      headers: { ...headers, 'accept-encoding': 'identity' },
      body,
      signal: abort.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    return await receive(response, maxBodyBytes)
  } catch (error) {
    if (ended !== undefined) return ended
    const unsent = notConnected.has((error as NodeJS.ErrnoException).code ?? '') ? true : undefined
    return { kind: 'network', message: messageOf(error), unsent }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
  }
}

async function receive(
  response: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<HttpAnswer | HttpFailure> {
  const status = response.statusCode
  const success = status >= 200 && status < 300
  const answer = {
    status,
    contentType: header(response, 'content-type') ?? '',
    retryAfter: header(response, 'retry-after'),
  }
  try {
    const bytes = await collect(response, success ? maxBytes : maxErrorBytes)
    const plain = await decompress(bytes, header(response, 'content-encoding'), maxBytes)
    // Not fatal in an error body: there a broken character is no reason to lose the message.
    return { ...answer, body: new TextDecoder('utf-8', { fatal: success }).decode(plain) }
  } catch (error) {
    // The status of a failed call says more than the state of its body.
    if (!success) return { ...answer, body: '' }
    if (error instanceof UnreadableBody) return { kind: 'bad_response', message: error.message, status }
    if (error instanceof TypeError) return { kind: 'bad_response', message: 'The body is not UTF-8.', status }
    throw error
  }
}

class UnreadableBody extends Error {}

async function collect({ body, statusCode }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  // Leaving the loop early destroys the stream, which may report that as an error.
  body.on('error', () => {})
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    chunks.push(chunk)
    if (size <= maxBytes) continue
    if (statusCode >= 300) break
    throw new UnreadableBody(`The body is larger than ${maxBytes} bytes.`)
  }
  return Buffer.concat(chunks)
}

const decoders = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) }

/** We ask for plain bodies; some servers compress all the same. A broken stream is an error here, never an empty text. */
async function decompress(bytes: Buffer, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  const name = (encoding ?? 'identity').trim().toLowerCase()
  if (name === 'identity' || name === '') return bytes
  if (!Object.hasOwn(decoders, name))
    throw new UnreadableBody(`The body has an unknown encoding, ${name.slice(0, 40)}.`)
  try {
    return await decoders[name as keyof typeof decoders](bytes, { maxOutputLength: maxBytes })
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw new UnreadableBody(
      tooLarge ? `The body unpacks to more than ${maxBytes} bytes.` : `The ${name} body is broken.`,
    )
  }
}

function header(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name]
  return Array.isArray(value) ? value[0] : value
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'The connection failed.'
  const { code } = error as NodeJS.ErrnoException
  return code === undefined ? error.message : `${error.message} (${code})`
}
