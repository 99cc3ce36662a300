import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { Dispatcher, Pool } from 'undici'
import type { ChatFailure } from '../chat-model.ts'
import { withDeadline } from '../deadline.ts'

/** An HTTP answer. A 2xx body is complete; another may be cut off. */
export interface HttpAnswer {
  readonly status: number
  readonly contentType: string
  readonly retryAfter?: string
  readonly body: string
}

type HttpFailure = Pick<ChatFailure, 'kind' | 'message' | 'status' | 'unsent'>

export interface ExchangeLimits {
  /** From the first step of connecting to the last byte of the body. */
  readonly deadlineMs: number
  readonly maxBodyBytes: number
}

/** What a connection fails with before anything can be sent over it. */
const notConnected = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

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
  let refused: HttpAnswer | undefined
  const exchange = async (until: AbortSignal) => {
    const response = await pool.request({
      path,
      method: 'POST',
      headers: { ...headers, 'accept-encoding': 'identity' },
      body,
      signal: until,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const answer: HttpAnswer = {
      status: response.statusCode,
      contentType: header(response, 'content-type') ?? '',
      retryAfter: header(response, 'retry-after'),
      body: '',
    }
    if (!isSuccess(answer)) refused = answer
    return await receive(response, answer, maxBodyBytes)
  }
  const unsent = signal?.aborted || undefined
  try {
    const answer = await withDeadline(deadlineMs, signal, exchange)
    if (typeof answer === 'string' && refused !== undefined) return refused
    if (answer === 'aborted') return { kind: 'cancelled', message: 'The call was cancelled.', unsent }
    if (answer !== 'timeout') return answer
    return { kind: 'timeout', message: `No complete answer within ${deadlineMs / 1000} s.` }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return {
      kind: 'network',
      message: code === undefined ? message : `${message} (${code})`,
      unsent: notConnected.test(code ?? '') || undefined,
    }
  }
}

function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300
}

// Made once: they are slow to make. In an error body a broken character is no reason to lose the message.
const strictText = new TextDecoder('utf-8', { fatal: true })
const anyText = new TextDecoder('utf-8')

/** The answer with its body. */
async function receive(
  response: Dispatcher.ResponseData,
  answer: HttpAnswer,
  maxBytes: number,
): Promise<HttpAnswer | HttpFailure> {
  const success = isSuccess(answer)
  try {
    const bytes = await collect(response, success ? maxBytes : maxErrorBytes)
    const encoding = header(response, 'content-encoding')
    const plain = encoding === undefined ? bytes : await decompress(bytes, encoding, maxBytes)
    return { ...answer, body: (success ? strictText : anyText).decode(plain) }
  } catch (error) {
    // The status of a failed call says more than the state of its body.
    if (!success) return answer
    const isBinary = error instanceof TypeError
    if (!isBinary && !(error instanceof UnreadableBody)) throw error
    const message = isBinary ? 'The body is not UTF-8.' : (error as Error).message
    return { kind: 'bad_response', message, status: answer.status }
  }
}

class UnreadableBody extends Error {}

/** By events, which cost a good deal less than iterating over the stream. */
function collect({ body, statusCode }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    body.on('data', (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size <= maxBytes) return
      if (statusCode >= 300) resolve(Buffer.concat(chunks))
      else reject(new UnreadableBody(`The body is larger than ${maxBytes} bytes.`))
      body.destroy()
    })
    body.on('end', () => resolve(Buffer.concat(chunks)))
    // Also reports that a body was destroyed above; by then the promise is settled.
    body.on('error', reject)
  })
}

const decoders = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) }

/** We ask for plain bodies; some servers compress all the same. A broken stream is an error here, never an empty text. */
async function decompress(bytes: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const name = encoding.trim().toLowerCase()
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
