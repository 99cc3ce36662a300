import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a server does with its next request; without an entry, it serves normally. */
export type Misdeed =
  /** Breaks the connection after this many bytes. */
  | { readonly cutAfter: number }
  | { readonly status: number; readonly location?: string }
  | { readonly ignoreRange: true }

export interface FileServer {
  readonly url: string
  readonly requests: { path: string; range: string | undefined; authorization: string | undefined }[]
  readonly misdeeds: Misdeed[]
  /** Sent with every answer. */
  readonly headers: Record<string, string>
  close(): Promise<void>
}

/** Serves files from memory on loopback, with ranges, and misbehaves on demand. */
export async function serveFiles(files: ReadonlyMap<string, Uint8Array>): Promise<FileServer> {
  const requests: FileServer['requests'] = []
  const misdeeds: Misdeed[] = []
  const headers: Record<string, string> = {}
  const server = createServer((request, response) => {
    const path = new URL(request.url!, 'http://localhost').pathname
    requests.push({ path, range: request.headers.range, authorization: request.headers.authorization })
    const misdeed = misdeeds.shift()
    const file = files.get(path)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    if (misdeed !== undefined && 'status' in misdeed) {
      if (misdeed.location !== undefined) response.setHeader('location', misdeed.location)
      response.writeHead(misdeed.status).end()
      return
    }
    if (file === undefined) {
      response.writeHead(404).end()
      return
    }
    const start = misdeed !== undefined && 'ignoreRange' in misdeed ? 0 : rangeStart(request)
    if (start > 0 && start >= file.length) {
      response.writeHead(416).end()
      return
    }
    const body = file.subarray(start)
    response.setHeader('content-length', body.length)
    if (start > 0) response.setHeader('content-range', `bytes ${start}-${file.length - 1}/${file.length}`)
    response.writeHead(start > 0 ? 206 : 200)
    if (misdeed !== undefined && 'cutAfter' in misdeed)
      response.write(body.subarray(0, misdeed.cutAfter), () => setTimeout(() => response.destroy(), 20))
    else response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    misdeeds,
    headers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function rangeStart({ headers }: IncomingMessage): number {
  return Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)
}
