import { useCallback, useSyncExternalStore } from 'react'

/** The address is the page's state, so a link shows the same again. */
export interface Place {
  /** The parts of the path, decoded. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

const moved = new Set<() => void>()
let current = read()

function read(): Place & { readonly href: string } {
  const { pathname, search } = window.location
  const path = pathname.split('/').filter(Boolean).map(decoded)
  return { path, query: new URLSearchParams(search), href: `${pathname}${search}` }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function tell(): void {
  current = read()
  for (const listener of moved) listener()
}
window.addEventListener('popstate', tell)

export function goTo(href: string, { replace = false } = {}): void {
  if (href === current.href) return
  window.history[replace ? 'replaceState' : 'pushState'](null, '', href)
  tell()
}

function subscribe(listener: () => void): () => void {
  moved.add(listener)
  return () => moved.delete(listener)
}

export function usePlace(): Place {
  return useSyncExternalStore(subscribe, () => current)
}

/** One field of the address's query; setting it to an empty value removes it. */
export function useQueryField(name: string): [value: string, set: (value: string) => void] {
  const { query } = usePlace()
  const set = useCallback((value: string) => setQuery({ [name]: value }), [name])
  return [query.get(name) ?? '', set]
}

/** Changes fields of the query without a new entry in the history. */
export function setQuery(fields: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(window.location.search)
  for (const [name, value] of Object.entries(fields)) {
    if (value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  goTo(`${window.location.pathname}${text === '' ? '' : `?${text}`}`, { replace: true })
}

/** An address from the parts of its path and a query. */
export function href(path: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(query).toString()
  return `/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}
