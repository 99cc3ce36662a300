// Access checks that run before every handler.
import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { MiddlewareHandler } from 'hono'
import { Problem } from '../problem.ts'
import { Refusal } from './refusal.ts'

export interface GuardOptions {
  /** The address that the server listens on. */
  readonly host: string
  /** Other host names of this server, such as a proxy's. */
  readonly hosts?: readonly string[]
  /** If given, every request must send it. */
  readonly token?: string
  /** Finds a token outside the `Authorization` header. */
  readonly tokenOf?: (request: Request) => string | undefined
  /** Paths that need no token. */
  readonly open?: readonly string[]
}

const loopback: readonly string[] = ['127.0.0.1', 'localhost', '[::1]', '::1']

export function isLoopback(host: string): boolean {
  return loopback.includes(host.toLowerCase())
}

/** Without a token, everyone on the network could use the model at the owner's expense. */
export function assertGuarded(host: string, token: string | undefined): void {
  if (isLoopback(host) || token !== undefined) return
  throw new Problem(
    `Listening on ${host} lets other machines connect, so a token is required. Set one in an environment variable and name it, such as --token-env MAGIC_TOKEN, or listen on 127.0.0.1.`,
  )
}

/** Refuses unknown hosts, foreign origins (403) and wrong tokens (401). */
export function guard({ host, hosts = [], token, tokenOf, open = [] }: GuardOptions): MiddlewareHandler {
  const names = new Set([...loopback, host, ...hosts].map((name) => name.toLowerCase()))
  const isOurs = (name: string) => names.has(name) || (!isLoopback(host) && isAddress(name))
  return async (context, next) => {
    const { raw, path } = context.req
    const authority = context.req.header('host') ?? ''
    // With DNS rebinding, a page points its own domain at this machine; that domain is then in the Host header.
    if (!isOurs(nameOf(authority)))
      throw new Refusal(
        403,
        `This server does not answer to '${authority.slice(0, 100)}'. Allow the name when you start it.`,
        {
          code: 'foreign_host',
        },
      )
    refuseForeignOrigin(raw.headers, authority)
    if (token !== undefined && !open.includes(path)) {
      const given = bearerOf(raw.headers) ?? tokenOf?.(raw)
      if (given === undefined || !isToken(given, token))
        throw new Refusal(401, 'A valid token is required: send it as `Authorization: Bearer …`.', {
          code: 'invalid_api_key',
          headers: { 'www-authenticate': 'Bearer' },
        })
    }
    await next()
  }
}

/** Compares in constant time, whatever the lengths. */
export function isToken(given: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}

/** Browsers send the origin of the page that makes a request; other clients send neither header. */
function refuseForeignOrigin(headers: Headers, authority: string): void {
  const origin = headers.get('origin')
  const isSame = origin === null || origin === `http://${authority}` || origin === `https://${authority}`
  // Any page may link here, but none may load or send anything in the background.
  const site = headers.get('sec-fetch-site')
  const isHidden =
    (site === 'cross-site' || site === 'same-site') && headers.get('sec-fetch-mode') !== 'navigate'
  if (isSame && !isHidden) return
  throw new Refusal(403, 'Pages from other origins may not use this server.', { code: 'foreign_origin' })
}

function bearerOf(headers: Headers): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1]
}

/** The name in `name:port`, in lower case; empty if malformed. */
function nameOf(authority: string): string {
  return /^(\[[0-9a-f:.]+\]|[^:@/\\\s]+)(?::\d{1,5})?$/i.exec(authority)?.[1]?.toLowerCase() ?? ''
}

/** An address needs no DNS lookup, so it cannot be rebound. */
function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
}
