import { type AppOptions, serveApp } from './app.ts'
import { assertGuarded } from './guard.ts'
import { collectRarely } from './heap-growth.ts'
import { type Listening, type ListenOptions, listen } from './listen.ts'

export interface ServeOptions extends Omit<AppOptions, 'guard' | 'closing'>, ListenOptions {
  readonly hosts?: readonly string[]
  readonly token?: string
}

/** Serves policies over HTTP until closed. */
export async function serve(options: ServeOptions): Promise<Listening> {
  const { host, hosts, token, policies } = options
  assertGuarded(host, token)
  collectRarely()
  const closing = new AbortController()
  const app = serveApp({ ...options, guard: { host, hosts, token }, closing: closing.signal })
  const listening = await listen(app.fetch, options)
  return {
    ...listening,
    async close(graceMs) {
      closing.abort()
      await listening.close(graceMs)
      for (const { spending } of policies) spending.close()
    },
  }
}
