import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { Problem } from '../problem.ts'

export interface ListenOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** Time limit for a request's headers, which also applies to a silent connection. */
  readonly headerSeconds?: number
  /** Time limit for a whole request, including its body. A slower client gets a 408. */
  readonly bodySeconds?: number
}

export interface Listening {
  readonly url: string
  readonly port: number
  /** Stops accepting and waits for running requests. After `graceMs`, closes all connections, which cancels them. */
  close(graceMs: number): Promise<void>
}

/** Keeps clients from using up file descriptors; further connections wait in the system's queue. */
const maxConnections = 4096
const maxHeaderBytes = 16 * 1024
const checkMs = 500

/** Serves a Hono app (its `fetch`) over HTTP, with limits on connections and slow clients. */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  { host, port, headerSeconds = 10, bodySeconds = 30 }: ListenOptions,
): Promise<Listening> {
  const server = createAdaptorServer({
    fetch,
    // Embedding programs keep their own `Request` and `Response`.
    overrideGlobalObjects: false,
    serverOptions: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headerSeconds * 1000,
      requestTimeout: bodySeconds * 1000,
      connectionsCheckingInterval: checkMs,
    },
  }) as Server
  server.maxConnections = maxConnections
  server.listen(port, host)
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw listenProblem(error, host, port)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    port: taken,
    async close(graceMs) {
      const closed = new Promise((resolve) => server.close(resolve))
      // Otherwise a connection that becomes idle from now on stays open until its client closes it.
      const sweep = setInterval(() => server.closeIdleConnections(), 50)
      const cut = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearInterval(sweep)
      clearTimeout(cut)
    },
  }
}

function listenProblem(error: NodeJS.ErrnoException, host: string, port: number): unknown {
  const said: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} is in use. Choose another with --port, or 0 for any free one.`,
    EACCES: `You have no permission to use port ${port}. Choose one above 1023.`,
    EADDRNOTAVAIL: `This machine does not have the address ${host}. Choose another with --host.`,
    ENOTFOUND: `There is no host called ${host}. Choose another with --host.`,
  }
  const message = said[error.code ?? '']
  return message === undefined ? error : new Problem(message, { cause: error })
}
