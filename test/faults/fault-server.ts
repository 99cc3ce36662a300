import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

/** One request as the server saw it. */
export interface LoggedAttempt {
  readonly time: number
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly fault: Fault
}

/** The healthy server's answer to a request. */
export interface HealthyAnswer {
  readonly content: string
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens?: number
}

/**
 * A chat endpoint on loopback that misbehaves on demand: by a script, with one fault per request and `ok`
 * afterwards, or by a function of the request's number and body.
 */
export class FaultServer {
  readonly attempts: LoggedAttempt[] = []
  readonly #server: Server
  #plan: (number: number, body: string) => Fault = () => 'ok'
  #answer: (body: string) => HealthyAnswer = (body) => ({
    content: '{"analysis":"x","answer":"A"}',
    promptTokens: body.length,
    completionTokens: 9,
  })

  private constructor() {
    this.#server = createServer((request, response) => void this.#handle(request, response))
  }

  static async start(): Promise<FaultServer> {
    const server = new FaultServer()
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  /** Clears the log and starts with these faults. */
  script(...faults: readonly Fault[]): void {
    this.plan((number) => faults[number] ?? 'ok')
  }

  plan(plan: (number: number, body: string) => Fault): void {
    this.attempts.length = 0
    this.#plan = plan
  }

  answer(answer: (body: string) => HealthyAnswer): void {
    this.#answer = answer
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    } catch {
      return // the client disconnected
    }
    const body = Buffer.concat(chunks).toString()
    const fault = this.#plan(this.attempts.length, body)
    const { method = '', url: path = '', headers } = request
    this.attempts.push({ time: Date.now(), method, path, headers, body, fault })
    const context: Context = { response, headers, answer: this.#answer(body) }
    if (fault in faults) faults[fault as NamedFault](context)
    else sendError(response, 429, 'slow down', { 'retry-after': fault.slice('429_after_'.length) })
  }
}

interface Context {
  readonly response: ServerResponse
  readonly headers: IncomingHttpHeaders
  readonly answer: HealthyAnswer
}

export type NamedFault = keyof typeof faults

/** `429_after_…` sends the rest of its name as `Retry-After`. */
export type Fault = NamedFault | `429_after_${string}`

const json = { 'content-type': 'application/json' }
/** So that a test need not wait for retries. */
const atOnce = { 'retry-after': '0' }
/** Created once, on first use, because it takes a while. */
let packed: Buffer | undefined
const bomb = () => {
  packed ??= gzipSync(Buffer.alloc(32 * 1024 * 1024, ' '), { level: 9 })
  return packed
}

const faults = {
  ok: ({ response, answer }) => sendJson(response, completion(answer)),
  '400': ({ response }) => sendError(response, 400, 'unknown parameter', atOnce),
  '401': ({ response }) => sendError(response, 401, 'invalid key'),
  '402': ({ response }) => sendError(response, 402, 'insufficient balance'),
  '403': ({ response }) => sendError(response, 403, 'not for you'),
  '404': ({ response }) => sendError(response, 404, 'no such model'),
  '408': ({ response }) => sendError(response, 408, 'too slow', atOnce),
  '413': ({ response }) => sendError(response, 413, 'too long'),
  '418': ({ response }) => sendError(response, 418, 'I am a teapot'),
  '422': ({ response }) => sendError(response, 422, 'invalid parameter'),
  too_long_400: ({ response }) =>
    sendError(
      response,
      400,
      "This model's maximum context length is 64 tokens",
      {},
      'context_length_exceeded',
    ),
  refused_422: ({ response }) => sendError(response, 422, 'inappropriate content', {}, 'content_filter'),
  '429': ({ response }) => sendError(response, 429, 'slow down'),
  '500': ({ response }) => sendError(response, 500, 'internal error'),
  '503': ({ response }) => response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>Busy</h1>'),
  quota_429: ({ response }) =>
    sendError(response, 429, 'You exceeded your current quota', {}, 'insufficient_quota'),
  echo_key_in_error: ({ response, headers }) => {
    const key = String(headers.authorization).replace('Bearer ', '')
    const base64 = Buffer.from(key).toString('base64')
    const inner = Buffer.from(`user:${key}`).toString('base64')
    const forms = [key, base64, inner, encodeURIComponent(key), JSON.stringify(key)]
    sendError(response, 401, `Incorrect API key provided: ${forms.join(' ')}`)
  },

  reset: ({ response }) => response.destroy(),
  hang: () => {},
  hang_body: ({ response, answer }) =>
    void response.writeHead(200, json).write(completion(answer).slice(0, 20)),
  hang_error_body: ({ response }) => void response.writeHead(401, json).write('{"error":'),
  drip: ({ response }) => {
    response.writeHead(200, json)
    const timer = setInterval(() => response.write(' '), 5)
    response.on('close', () => clearInterval(timer))
  },
  drip_headers: ({ response }) => {
    const { socket } = response
    socket?.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket?.write('x-a: b\r\n'), 5)
    socket?.on('close', () => clearInterval(timer))
  },

  truncate: ({ response, answer }) => {
    const text = completion(answer)
    response.writeHead(200, { ...json, 'content-length': text.length })
    response.write(text.slice(0, text.length / 2), () => response.destroy())
  },
  truncate_chunked: ({ response, answer }) => {
    response.writeHead(200, json)
    response.write(completion(answer).slice(0, 30), () => response.destroy())
  },
  huge_body: ({ response }) => {
    response.writeHead(200, json)
    const chunk = Buffer.alloc(256 * 1024, ' ')
    const more = () => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  },
  gzip: ({ response, answer }) =>
    response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(gzipSync(completion(answer))),
  gzip_bomb: ({ response }) => response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb()),
  broken_gzip: ({ response, answer }) => {
    const whole = gzipSync(completion(answer))
    response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(whole.subarray(0, whole.length - 12))
  },
  not_gzip: ({ response, answer }) =>
    response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(completion(answer)),
  odd_encoding: ({ response, answer }) =>
    response.writeHead(200, { ...json, 'content-encoding': 'gzip, gzip' }).end(completion(answer)),

  wrong_type: ({ response, answer }) =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end(completion(answer)),
  no_type: ({ response, answer }) => response.writeHead(200).end(completion(answer)),
  html: ({ response }) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title>'),
  empty: ({ response }) => response.writeHead(200, json).end(),
  no_content: ({ response }) => response.writeHead(204).end(),
  error_in_200: ({ response }) =>
    sendJson(response, JSON.stringify({ error: { message: 'upstream failed' } })),
  error_in_choice: ({ response, answer }) =>
    sendJson(response, completion(answer).replace('"finish_reason":"stop"', '"finish_reason":"error"')),
  quota_in_200: ({ response }) =>
    sendJson(response, JSON.stringify({ error: { message: 'none left', code: 'insufficient_quota' } })),
  broken_json: ({ response, answer }) => sendJson(response, completion(answer).slice(0, -7)),
  not_utf8: ({ response }) => response.writeHead(200, json).end(Buffer.from([0x22, 0xff, 0xfe, 0x22])),
  no_choices: ({ response, answer }) =>
    sendJson(response, JSON.stringify({ choices: [], ...usageOf(answer) })),
  proto_body: ({ response, answer }) =>
    sendJson(response, `{"__proto__":${completion(answer)},"constructor":{"prototype":{"polluted":true}}}`),
  redirect: ({ response }) => response.writeHead(307, { location: '/elsewhere' }).end(),

  no_usage: ({ response, answer }) => sendJson(response, completion(answer, { usage: undefined })),
  null_usage: ({ response, answer }) => sendJson(response, completion(answer, { usage: null })),
  bad_usage: ({ response, answer }) =>
    sendJson(response, completion(answer, { usage: { prompt_tokens: -5, completion_tokens: 1e300 } })),
  cut_off: ({ response, answer }) =>
    sendJson(response, completion(answer).replace('"finish_reason":"stop"', '"finish_reason":"length"')),
  null_content: ({ response, answer }) =>
    sendJson(response, completion(answer).replace(/"content":"(?:[^"\\]|\\.)*"/, '"content":null')),
  thinking: ({ response, answer }) =>
    sendJson(response, completion(answer).replace('"content"', '"reasoning_content":"Let me see","content"')),
} satisfies Record<string, (context: Context) => unknown>

function usageOf({ promptTokens, completionTokens, cachedTokens = 0 }: HealthyAnswer) {
  return {
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      prompt_tokens_details: { cached_tokens: cachedTokens },
    },
  }
}

function completion(answer: HealthyAnswer, changes: object = {}): string {
  const message = { role: 'assistant', content: answer.content }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  return JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    model: 'served',
    choices,
    ...usageOf(answer),
    ...changes,
  })
}

function sendJson(response: ServerResponse, body: string): void {
  response.writeHead(200, json).end(body)
}

function sendError(
  response: ServerResponse,
  status: number,
  message: string,
  headers = {},
  code?: string,
): void {
  response.writeHead(status, { ...json, ...headers }).end(JSON.stringify({ error: { message, code } }))
}
