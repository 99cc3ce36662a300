import { type Listening, listen } from '../serve/listen.ts'
import { type ViewOptions, viewApp } from './view-app.ts'

/** Serves the dashboard on this machine only. */
export async function startView({
  port,
  ...options
}: Omit<ViewOptions, 'closing'> & { readonly port: number }): Promise<Pick<Listening, 'url' | 'close'>> {
  const closing = new AbortController()
  const app = viewApp({ ...options, closing: closing.signal })
  const { url, close } = await listen((request) => app.fetch(request), { host: '127.0.0.1', port })
  return {
    url,
    close(graceMs) {
      // Open pages keep listening, so end their streams first.
      closing.abort()
      return close(graceMs)
    },
  }
}
