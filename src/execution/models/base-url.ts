import { isIPv4, isIPv6 } from 'node:net'

/**
 * Where a model is asked. It comes from configuration only. Plain `http:` leaves the machine unread only on loopback, and
 * link-local addresses are where clouds keep their credentials: both need the explicit flag.
 */
export function checkBaseURL(text: string, allowUnsafe = false): URL {
  if (!URL.canParse(text)) throw new BaseURLError(text, 'it is not a URL')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new BaseURLError(text, 'it is neither https: nor http:')
  if (url.username !== '' || url.password !== '')
    throw new BaseURLError(url.origin, 'it holds credentials; give the key by environment variable or file')
  if (url.search !== '' || url.hash !== '') throw new BaseURLError(text, 'it has a query or a fragment')
  if (allowUnsafe) return url
  if (isLinkLocal(url.hostname))
    throw new BaseURLError(text, 'its address is link-local; set allowUnsafeBaseURL if that is meant')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new BaseURLError(
      text,
      'http: sends the key and every text in the clear; use https:, or set allowUnsafeBaseURL if that is meant',
    )
  return url
}

class BaseURLError extends Error {
  override name = 'BaseURLError'
  constructor(url: string, problem: string) {
    super(`The base URL ${url} cannot be used: ${problem}.`)
  }
}

/** `URL` has already turned odd spellings (0x7f.1, 2130706433) into dotted ones. */
function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '[::1]') return true
  return isIPv4(hostname) && hostname.startsWith('127.')
}

function isLinkLocal(hostname: string): boolean {
  if (isIPv4(hostname)) return hostname.startsWith('169.254.')
  const address = hostname.slice(1, -1)
  if (!isIPv6(address)) return false
  // fe80::/10, and 169.254.0.0/16 written as an IPv6 address: a9fe is 169.254.
  return /^fe[89ab]/i.test(address) || /^::ffff:a9fe:/i.test(address)
}
