#!/usr/bin/env node
// A checkout runs its TypeScript as it stands; an installed package has only the compiled files.
import { existsSync } from 'node:fs'
import * as module from 'node:module'

const [major] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(
    `magic needs Node 24 or newer, this is ${process.version}.\n` +
      'In a checkout run it as `npm run -s magic -- ...`: npm scripts use the Node 24 that the project brings along.',
  )
  process.exit(2)
}
// Starts in about half the time from the second time on.
module.enableCompileCache?.()
// npm runs its scripts in the package's folder; paths are meant from where it was called.
if (process.env.npm_lifecycle_event === 'magic' && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD)
const source = new URL('../src/cli/main.ts', import.meta.url)
const main = existsSync(source) ? source : new URL('../dist/cli/main.js', import.meta.url)
await import(main.href)
