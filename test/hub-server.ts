import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const commit = 'c0ffee'.padEnd(40, '0')

/** A request to the hub or its storage. */
export interface SeenRequest {
  readonly server: 'hub' | 'storage'
  readonly method: string
  readonly path: string
  readonly range: string | undefined
  readonly authorization: string | undefined
}

/** Fails once, in the next download. */
export type Fault = { readonly status: number } | { readonly stallAfter: number }

/**
 * A Hugging Face hub on this machine: it serves small files itself and redirects large ones to a storage
 * server on another port, with the real one's headers.
 */
export class HubServer implements AsyncDisposable {
  readonly seen: SeenRequest[] = []
  readonly faults: Fault[] = []
  readonly small = new Map<string, Buffer>()
  readonly large = new Map<string, Buffer>()
  /** Headers that replace the right ones. */
  lies: Record<string, string> = {}
  status: number | undefined
  repository = 'org/model'
  formerName: string | undefined
  ranges = true
  readonly #stalled: ServerResponse[] = []
  readonly #hub = createServer((request, response) => this.#answer('hub', request, response))
  readonly #storage = createServer((request, response) => this.#answer('storage', request, response))

  static async start(): Promise<HubServer> {
    const server = new HubServer()
    await Promise.all([listen(server.#hub), listen(server.#storage)])
    return server
  }

  get endpoint(): string {
    return addressOf(this.#hub)
  }

  get downloads(): SeenRequest[] {
    return this.seen.filter(({ method, server, path }) => {
      const isLarge = this.large.has(path.replace(/.*\/resolve\/[^/]+\//, ''))
      return method === 'GET' && (server === 'storage' || !isLarge)
    })
  }

  /** Breaks connections stalled by a fault. */
  cutStalled(): void {
    for (const response of this.#stalled.splice(0)) response.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.#hub, this.#storage]) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }

  #answer(server: 'hub' | 'storage', request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '', headers } = request
    const { range, authorization } = headers
    this.seen.push({ server, method, path: url, range, authorization })
    if (server === 'storage') {
      this.#send(this.large.get(url.slice(1)), request, response)
      return
    }
    if (this.formerName !== undefined && url.startsWith(`/${this.formerName}/`)) {
      response.writeHead(307, { location: url.replace(this.formerName, this.repository) }).end()
      return
    }
    const prefix = `/${this.repository}/resolve/`
    const path = url.startsWith(prefix) ? url.slice(prefix.length).replace(/^[^/]+\//, '') : ''
    const [small, large] = [this.small.get(path), this.large.get(path)]
    if (this.status !== undefined || (small === undefined && large === undefined)) {
      response.writeHead(this.status ?? 404, { 'x-error-code': 'EntryNotFound' }).end()
      return
    }
    response.setHeaders(new Map(Object.entries({ 'x-repo-commit': commit, ...this.lies })))
    if (large !== undefined) {
      response.writeHead(302, {
        'x-linked-etag': `"${createHash('sha256').update(large).digest('hex')}"`,
        'x-linked-size': String(large.length),
        location: `${addressOf(this.#storage)}/${path}`,
        ...this.lies,
      })
      response.end()
      return
    }
    if (!response.hasHeader('etag')) response.setHeader('etag', `W/"${gitDigest(small!)}"`)
    this.#send(small, request, response)
  }

  #send(content: Buffer | undefined, request: IncomingMessage, response: ServerResponse): void {
    if (content === undefined) return void response.writeHead(404).end()
    const start = this.ranges ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0) : 0
    if (start >= content.length && start > 0) return void response.writeHead(416).end()
    const fault = request.method === 'GET' ? this.faults.shift() : undefined
    if (fault !== undefined && 'status' in fault) return void response.writeHead(fault.status).end()
    const body = content.subarray(start)
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': body.length,
      ...(start > 0 && { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` }),
    })
    if (request.method === 'HEAD') return void response.end()
    if (fault === undefined) return void response.end(body)
    response.write(body.subarray(0, fault.stallAfter))
    this.#stalled.push(response)
  }
}

export function gitDigest(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
