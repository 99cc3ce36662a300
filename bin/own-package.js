// Any import of `magic-agents` in this process gets the library beside this file, wherever the importing file lies: never
// a second copy. A checkout runs its TypeScript as it stands. An import of zod, which tools need, falls back to ours.
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'

const source = new URL('../src/index.ts', import.meta.url)
const { href } = existsSync(source) ? source : new URL('../dist/index.js', import.meta.url)

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'magic-agents') return { url: href, shortCircuit: true }
    if (!/^zod(\/|$)/.test(specifier)) return next(specifier, context)
    try {
      return next(specifier, context)
    } catch {
      return next(specifier, { ...context, parentURL: import.meta.url })
    }
  },
})
