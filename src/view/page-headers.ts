import type { MiddlewareHandler } from 'hono'

/**
 * Pages load from this server only: no inline scripts, no frames, no requests to other hosts. Styles set by a script need no
 * exception here.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const headers = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** Sets security headers on every response, including errors, which a browser may be tricked into showing. */
export function pageHeaders(): MiddlewareHandler {
  return async (context, next) => {
    await next()
    for (const [name, value] of Object.entries(headers)) context.res.headers.set(name, value)
    // Answers change, so they are not cached. Built files never change and set this themselves.
    if (!context.res.headers.has('Cache-Control')) context.res.headers.set('Cache-Control', 'no-store')
  }
}
