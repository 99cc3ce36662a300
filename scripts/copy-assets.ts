// After `tsc`: the files beside the sources that the compiled package needs too.
import { cpSync, globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
for (const file of globSync('src/**/{*.{wasm,py,yaml,css},init-template/*}', { cwd: root })) {
  cpSync(`${root}${file}`, `${root}${file.replace(/^src/, 'dist')}`)
}
