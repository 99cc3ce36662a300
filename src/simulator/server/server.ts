import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type SimulatedCompletion, SimulatedModel, type SimulatorSettings } from '../model/simulator.ts'
import { AttemptCounter, checkFaultRates, type FaultKind, type FaultRates, faultOf } from './faults.ts'
import { completionJson, errorJson, modelsJson, readBody } from './wire.ts'

export interface ServerSettings extends SimulatorSettings {
  /** 0 takes any free port. */
  readonly port?: number
  /** The rate of each fault; at most 1 in total. */
  readonly faults?: FaultRates
}

const maxBodyBytes = 8 * 1024 * 1024
const dripMs = 20
const graceMs = 2000
const json = { 'content-type': 'application/json' }

/** The simulated model as an OpenAI-compatible server. Listens on loopback only; anyone on this machine may call it. */
export class SimulatedServer {
  readonly simulator: SimulatedModel
  readonly #faults: FaultRates
  readonly #attempts = new AttemptCounter()
  readonly #server: Server
  /** Responses that a fault keeps open. Closing the server destroys them. */
  readonly #stuck = new Set<ServerResponse>()
  readonly #closing = new AbortController()
  /** The base URL of its OpenAI-compatible endpoint. */
  url = ''
  /** Number of completions requested. */
  requests = 0

  private constructor(settings: ServerSettings) {
    const { faults = {} } = settings
    checkFaultRates(faults)
    this.#faults = faults
    this.simulator = new SimulatedModel(settings)
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy())
    })
    this.#server.on('clientError', (_error, socket) => {
      if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
      else socket.destroy()
    })
  }

  static async start(settings: ServerSettings = {}): Promise<SimulatedServer> {
    const simulated = new SimulatedServer(settings)
    const server = simulated.#server.listen(settings.port ?? 0, '127.0.0.1')
    await once(server, 'listening')
    simulated.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    return simulated
  }

  /** Answers pending requests immediately and accepts no new ones. Slow clients are disconnected. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#closing.abort()
    for (const response of this.#stuck) response.destroy()
    const grace = setTimeout(() => this.#server.closeAllConnections(), graceMs)
    await closed
    clearTimeout(grace)
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {}) // the client went away
    if (!isLoopback(request.headers.host))
      return refuse(response, 403, 'This server answers to loopback names only.')
    const path = (request.url ?? '').split('?', 1)[0]
    const allowed = path === '/v1/chat/completions' ? 'POST' : path === '/v1/models' ? 'GET' : undefined
    if (allowed === undefined)
      return refuse(response, 404, 'There is only /v1/chat/completions and /v1/models.')
    if (request.method !== allowed)
      return refuse(response.setHeader('allow', allowed), 405, `Use ${allowed} for ${path}.`)
    if (allowed === 'GET') return void response.writeHead(200, json).end(modelsJson)
    const body = await read(request)
    if (body === undefined) {
      response.setHeader('connection', 'close')
      return refuse(response, 413, `The body is larger than ${maxBodyBytes} bytes.`)
    }
    await this.#complete(body, response)
  }

  async #complete(body: string, response: ServerResponse): Promise<void> {
    this.requests += 1
    const reading = readBody(body)
    if ('problem' in reading) return refuse(response, 400, reading.problem, reading.parameter)
    const digest = createHash('sha256').update(body).digest('hex')
    const fault = faultOf(this.#faults, this.simulator.seed, digest, this.#attempts.next(digest))
    const completion = this.simulator.complete(reading.request, reading.seed)
    if (completion.latencyMs > 0)
      await wait(completion.latencyMs, undefined, { signal: this.#closing.signal }).catch(() => {})
    if (response.destroyed) return
    if (this.#closing.signal.aborted) response.setHeader('connection', 'close')
    this.#answer(fault, completion, digest, response)
  }

  #answer(
    fault: FaultKind | undefined,
    completion: SimulatedCompletion,
    digest: string,
    response: ServerResponse,
  ): void {
    const body = completionJson(completion, digest)
    const half = completion.text.slice(0, completion.text.length / 2)
    const send = (text: string) => response.writeHead(200, json).end(text)
    if (fault === undefined) return void send(body)
    const faults: Record<FaultKind, () => void> = {
      429: () => refuse(response, 429, 'Rate limit reached (simulated).'),
      500: () => refuse(response, 500, 'The server had an error (simulated).'),
      503: () =>
        response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>Overloaded (simulated)</h1>'),
      reset: () => response.destroy(),
      hang: () => this.#keep(response),
      drip: () => this.#drip(response, body),
      truncate: () => {
        response.writeHead(200, { ...json, 'content-length': Buffer.byteLength(body) })
        response.write(body.slice(0, body.length / 2), () => response.destroy())
      },
      broken_json: () => send(body.slice(0, -9)),
      bad_text: () => send(completionJson({ ...completion, text: half }, digest)),
      cut_off: () => send(completionJson({ ...completion, text: half, finish: 'length' }, digest)),
    }
    faults[fault]()
  }

  #keep(response: ServerResponse): void {
    this.#stuck.add(response)
    response.once('close', () => this.#stuck.delete(response))
    if (this.#closing.signal.aborted) response.destroy()
  }

  async #drip(response: ServerResponse, body: string): Promise<void> {
    this.#keep(response)
    response.writeHead(200, json)
    for (const byte of Buffer.from(body)) {
      await wait(dripMs)
      if (response.destroyed) return
      response.write(Uint8Array.of(byte))
    }
    response.end()
  }
}

/** The body, or undefined if it is too large. The rest is still read, so that the client sees the refusal. */
function read(request: IncomingMessage): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
  const chunks: Buffer[] = []
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= maxBodyBytes) return void chunks.push(chunk)
    chunks.length = 0
    resolve(undefined)
  })
  request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
  request.once('error', reject)
  request.once('close', () => reject(new Error('The client went away.')))
  return promise
}

/** Refuses other host names: a web page could point its own domain at this machine (DNS rebinding). */
function isLoopback(host: string | undefined): boolean {
  return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i.test(host ?? '')
}

function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  parameter: string | null = null,
): void {
  if (response.destroyed) return
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  response.writeHead(status, json).end(errorJson(message, type, parameter))
}
