import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { Problem } from '../problem.ts'

export interface ListenOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  /** For the headers of a request to arrive, also on a connection that sends nothing. */
  readonly headerSeconds?: number
  /** For a whole request to arrive, body included. A slow client gets 408. */
  readonly bodySeconds?: number
}

export interface Listening {
  readonly url: string
  readonly port: number
  /** Takes nothing new and waits for what runs. After `graceMs` the connections are cut, which cancels their requests. */
  close(graceMs: number): Promise<void>
}

/** More would only use up file descriptors; the rest waits in the system's queue. */
const maxConnections = 4096
const maxHeaderBytes = 16 * 1024
const checkMs = 500

/** Serves a Hono app (its `fetch`) over HTTP, with limits on what a client may keep open. */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  { host, port, headerSeconds = 10, bodySeconds = 30 }: ListenOptions,
): Promise<Listening> {
  const server = createAdaptorServer({
    fetch,
    // This process may do other things: its `Request` and `Response` stay as they are.
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
      // A connection that becomes idle only now would stay open until its client lets go.
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
    EADDRINUSE: `Port ${port} is taken. Choose another with --port, or 0 for any free one.`,
    EACCES: `Port ${port} is not yours to open. Choose one above 1023.`,
    EADDRNOTAVAIL: `This machine does not have the address ${host}. Choose another with --host.`,
    ENOTFOUND: `There is no machine called ${host}. Choose another with --host.`,
  }
  const message = said[error.code ?? '']
  return message === undefined ? error : new Problem(message, { cause: error })
}
