// Whoever imports `magic-agents` in this process gets the library beside this file: found wherever the importing file lies,
// and never a second copy of it. A checkout runs its TypeScript as it stands.
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'

const source = new URL('../src/index.ts', import.meta.url)
const { href } = existsSync(source) ? source : new URL('../dist/index.js', import.meta.url)

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'magic-agents' ? { url: href, shortCircuit: true } : next(specifier, context),
})
