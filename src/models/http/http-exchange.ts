import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { Dispatcher, Pool } from 'undici'
import type { ChatFailure } from '../chat-model.ts'

/** An HTTP answer. A 2xx body is complete; others may be cut off. */
export interface HttpAnswer {
  readonly status: number
  readonly contentType: string
  readonly retryAfter?: string
  readonly body: string
}

type HttpFailure = Pick<ChatFailure, 'kind' | 'message' | 'status' | 'unsent'>

type Ended = HttpAnswer | HttpFailure

export interface ExchangeLimits {
  /** From connecting to the last byte of the body. */
  readonly deadlineMs: number
  readonly maxBodyBytes: number
}

/** Connection errors that occur before anything is sent. */
const notConnected = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

/** Enough for any error message. */
const maxErrorBytes = 64 * 1024

/**
 * One POST request. Redirects are not followed, the body is capped before and after decompression, and the deadline
 * ends it wherever it hangs. Once a status has arrived it counts, even if the body never does.
 */
export function post(
  pool: Pool,
  path: string,
  headers: Record<string, string>,
  body: string,
  limits: ExchangeLimits,
  signal?: AbortSignal,
): Promise<Ended> {
  if (signal?.aborted)
    return Promise.resolve({ kind: 'cancelled', message: 'The call was cancelled.', unsent: true })
  return new Promise((resolve) => {
    const exchange = new Exchange(limits, signal, resolve)
    pool.dispatch(
      {
        path,
        method: 'POST',
        headers: { ...headers, 'accept-encoding': 'identity' },
        body,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      exchange,
    )
  })
}

// Created once, because that is slow. A broken character in an error body is no reason to lose the message.
const strictText = new TextDecoder('utf-8', { fatal: true })
const anyText = new TextDecoder('utf-8')

/** Undici's handler for one request, without the overhead of the streams and signals its `request` creates. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #limits: ExchangeLimits
  #signal: AbortSignal | undefined
  #resolve: ((ended: Ended | Promise<Ended>) => void) | undefined
  readonly #timer: NodeJS.Timeout
  #chunks: Buffer[] = []
  #size = 0
  #controller: Dispatcher.DispatchController | undefined
  #answer: HttpAnswer | undefined
  #encoding: string | undefined
  #hasEnded = false

  constructor(
    limits: ExchangeLimits,
    signal: AbortSignal | undefined,
    resolve: (ended: Ended | Promise<Ended>) => void,
  ) {
    this.#limits = limits
    this.#signal = signal
    this.#resolve = resolve
    this.#timer = setTimeout(this.#expire, limits.deadlineMs)
    signal?.addEventListener('abort', this.#cancel, { once: true })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#hasEnded) controller.abort(new Error('The exchange has ended.'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    // Informational, such as `103 Early Hints`: the answer is still to come.
    if (status < 200) return
    this.#encoding = header(headers, 'content-encoding')
    this.#answer = {
      status,
      contentType: header(headers, 'content-type') ?? '',
      retryAfter: header(headers, 'retry-after'),
      body: '',
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length
    this.#chunks.push(chunk)
    const answer = this.#answer!
    const success = isSuccess(answer)
    const { maxBodyBytes } = this.#limits
    if (this.#size <= (success ? maxBodyBytes : maxErrorBytes)) return
    const message = `The body is larger than ${maxBodyBytes} bytes.`
    this.#break(success ? { kind: 'bad_response', message, status: answer.status } : this.#received())
  }

  onResponseEnd(): void {
    this.#end(this.#received())
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const { code, message } = error as NodeJS.ErrnoException
    this.#end(
      this.#refusal() ?? {
        kind: 'network',
        message: code === undefined ? message : `${message} (${code})`,
        unsent: notConnected.test(code ?? '') || undefined,
      },
    )
  }

  readonly #expire = () => {
    const message = `No complete answer within ${this.#limits.deadlineMs / 1000} s.`
    this.#break(this.#refusal() ?? { kind: 'timeout', message })
  }

  readonly #cancel = () => {
    this.#break(this.#refusal() ?? { kind: 'cancelled', message: 'The call was cancelled.' })
  }

  /** For a failed call, the status says more than its incomplete body. */
  #refusal(): HttpAnswer | undefined {
    return this.#answer === undefined || isSuccess(this.#answer) ? undefined : this.#answer
  }

  /** The answer with its body. */
  #received(): Ended | Promise<Ended> {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    const answer = this.#answer!
    if (this.#encoding === undefined) return withBody(answer, bytes)
    return decompress(bytes, this.#encoding, this.#limits.maxBodyBytes).then(
      (plain) => withBody(answer, plain),
      (error: unknown) => {
        if (!isSuccess(answer)) return answer
        return { kind: 'bad_response', message: (error as Error).message, status: answer.status }
      },
    )
  }

  /** Ends the exchange before the server does. */
  #break(ended: Ended | Promise<Ended>): void {
    const controller = this.#controller
    this.#end(ended)
    controller?.abort(new Error('The exchange has ended.'))
  }

  #end(ended: Ended | Promise<Ended>): void {
    this.#hasEnded = true
    clearTimeout(this.#timer)
    this.#signal?.removeEventListener('abort', this.#cancel)
    this.#resolve?.(ended)
    // The signal's removed listener may be reachable until the next full garbage collection; nothing else should be.
    this.#signal = undefined
    this.#resolve = undefined
    this.#controller = undefined
    this.#chunks = []
  }
}

function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300
}

function withBody(answer: HttpAnswer, bytes: Buffer): Ended {
  const success = isSuccess(answer)
  try {
    return { ...answer, body: (success ? strictText : anyText).decode(bytes) }
  } catch {
    return { kind: 'bad_response', message: 'The body is not UTF-8.', status: answer.status }
  }
}

const decoders = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) }

/** We ask for plain bodies, but some servers compress anyway. A broken stream is an error, never an empty text. */
async function decompress(bytes: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return bytes
  if (!Object.hasOwn(decoders, name))
    throw new Error(`The body has an unknown encoding, ${name.slice(0, 40)}.`)
  try {
    return await decoders[name as keyof typeof decoders](bytes, { maxOutputLength: maxBytes })
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw new Error(
      tooLarge ? `The body unpacks to more than ${maxBytes} bytes.` : `The ${name} body is broken.`,
    )
  }
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
