// npm run build: builds the package in dist/. MAGIC_API_MODEL names a file for the data of the API reference, a by-product of
// the build.
import { cpSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as buildView } from 'vite'
import { buildCode } from './build-code.ts'
import { buildTypes } from './build-types.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, 'dist')

rmSync(out, { recursive: true, force: true })
await buildCode(out)
await buildView({ root: join(root, 'view'), logLevel: 'warn' })
buildTypes({ declarations: join(out, 'index.d.ts'), model: process.env['MAGIC_API_MODEL'] })
// Files that the sources read at run time.
for (const file of globSync('src/**/{*.{wasm,py,yaml,css},init-template/*}', { cwd: root }))
  cpSync(join(root, file), join(root, file.replace(/^src/, 'dist')))
