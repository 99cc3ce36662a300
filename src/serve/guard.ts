// Who may talk to a server on this machine: checks that every route shares, before any handler runs.
import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { MiddlewareHandler } from 'hono'
import { Problem } from '../problem.ts'
import { Refusal } from './refusal.ts'

export interface GuardOptions {
  /** The address that the server listens on. */
  readonly host: string
  /** Further names that this server is reached by, such as that of a proxy in front of it. */
  readonly hosts?: readonly string[]
  /** Required from everybody if given. */
  readonly token?: string
  /** Where a request carries its token besides the `Authorization` header. */
  readonly tokenOf?: (request: Request) => string | undefined
  /** Paths that need no token, because they tell nothing. */
  readonly open?: readonly string[]
}

const loopback: readonly string[] = ['127.0.0.1', 'localhost', '[::1]', '::1']

export function isLoopback(host: string): boolean {
  return loopback.includes(host.toLowerCase())
}

/** Binding beyond this machine without a token would give everybody in the network the model and its bill. */
export function assertGuarded(host: string, token: string | undefined): void {
  if (isLoopback(host) || token !== undefined) return
  throw new Problem(
    `Listening on ${host} lets other machines in, so it needs a token. Put one into a variable and name it, such as --token-env MAGIC_TOKEN, or listen on 127.0.0.1.`,
  )
}

/** Refuses foreign hosts and origins (403) and wrong tokens (401). */
export function guard({ host, hosts = [], token, tokenOf, open = [] }: GuardOptions): MiddlewareHandler {
  const names = new Set([...loopback, host, ...hosts].map((name) => name.toLowerCase()))
  const isOurs = (name: string) => names.has(name) || (!isLoopback(host) && isAddress(name))
  return async (context, next) => {
    const { raw, path } = context.req
    const authority = context.req.header('host') ?? ''
    // A page may point its own domain at this machine (DNS rebinding); then its name stands in the Host header.
    if (!isOurs(nameOf(authority)))
      throw new Refusal(
        403,
        `This server is not called '${authority.slice(0, 100)}'. Allow the name at its start.`,
        {
          code: 'foreign_host',
        },
      )
    refuseForeignOrigin(raw.headers, authority)
    if (token !== undefined && !open.includes(path)) {
      const given = bearerOf(raw.headers) ?? tokenOf?.(raw)
      if (given === undefined || !isToken(given, token))
        throw new Refusal(401, 'A valid token is needed: send it as `Authorization: Bearer …`.', {
          code: 'invalid_api_key',
          headers: { 'www-authenticate': 'Bearer' },
        })
    }
    await next()
  }
}

/** In constant time, whatever the lengths. */
export function isToken(given: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}

/** Browsers name the page that a request comes from; other programs send neither header. */
function refuseForeignOrigin(headers: Headers, authority: string): void {
  const origin = headers.get('origin')
  const isSame = origin === null || origin === `http://${authority}` || origin === `https://${authority}`
  // A link may lead here from anywhere, but nothing may be loaded or sent in the background.
  const site = headers.get('sec-fetch-site')
  const isHidden =
    (site === 'cross-site' || site === 'same-site') && headers.get('sec-fetch-mode') !== 'navigate'
  if (isSame && !isHidden) return
  throw new Refusal(403, 'Pages of other origins may not use this server.', { code: 'foreign_origin' })
}

function bearerOf(headers: Headers): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1]
}

/** The name in `name:port`, in lower case; empty for anything else. */
function nameOf(authority: string): string {
  return /^(\[[0-9a-f:.]+\]|[^:@/\\\s]+)(?::\d{1,5})?$/i.exec(authority)?.[1]?.toLowerCase() ?? ''
}

/** An address cannot be rebound, as no name is looked up for it. */
function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
}
