#!/usr/bin/env node
// A checkout runs its TypeScript as it stands; an installed package has only the compiled files.
import { existsSync } from 'node:fs'

const [major] = process.versions.node.split('.').map(Number)
if (major < 24) {
  console.error(
    `magic needs Node 24 or newer, this is ${process.version}.\n` +
      'In a checkout run it as `npm run magic -- ...`: npm scripts use the Node 24 that the project brings along.',
  )
  process.exit(2)
}
const source = new URL('../src/cli/main.ts', import.meta.url)
const main = existsSync(source) ? source : new URL('../dist/cli/main.js', import.meta.url)
await import(main.href)
