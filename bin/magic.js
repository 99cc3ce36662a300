#!/usr/bin/env node
import { existsSync } from 'node:fs'
import * as module from 'node:module'

try {
  await import('./supported-node.js')
} catch (error) {
  console.error(`magic: ${error.message}`)
  process.exit(2)
}
// Starts in about half the time from the second time on.
module.enableCompileCache()
// npm runs its scripts in the package's folder; paths are meant from where it was called.
if (process.env.npm_lifecycle_event === 'magic' && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD)
// For configurations that import the package.
await import('./own-package.js')
// A checkout runs its TypeScript as it stands; an installed package has only the compiled files.
const source = new URL('../src/cli/main.ts', import.meta.url)
const main = existsSync(source) ? source : new URL('../dist/main.js', import.meta.url)
await import(main.href)
