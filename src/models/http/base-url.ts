import { isIPv4, isIPv6 } from 'node:net'
import { Problem } from '../../problem.ts'

/**
 * Checks a model's address, which only comes from configuration. Two kinds need the explicit flag: `http:` beyond
 * loopback, which anyone on the way can read, and link-local addresses, where clouds keep their credentials.
 */
export function checkBaseURL(text: string, allowUnsafe = false): URL {
  if (!URL.canParse(text))
    throw new Problem('The base URL cannot be used: it is not a URL, such as https://host/v1.')
  const url = new URL(text)
  const problem = problemWith(url, allowUnsafe)
  if (problem === undefined) return url
  // Shows only the origin: people put keys into the other parts.
  const place = url.protocol.startsWith('http') ? ` at ${url.origin}` : ''
  throw new Problem(`The base URL${place} cannot be used: ${problem}.`)
}

function problemWith(url: URL, allowUnsafe: boolean): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'it is neither https: nor http:'
  if (url.username !== '' || url.password !== '')
    return 'it contains credentials; provide the key by environment variable or file'
  if (url.search !== '' || url.hash !== '')
    return 'it has a query or fragment; provide the key by environment variable or file, and leave out the rest'
  if (allowUnsafe) return undefined
  if (isLinkLocal(url.hostname))
    return 'its address is link-local; set allowUnsafeBaseURL if that is intended'
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return 'http: sends the key and all texts unencrypted; use https:, or set allowUnsafeBaseURL if that is intended'
  return undefined
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
