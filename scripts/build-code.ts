import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { lineMap } from './line-maps.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'src')

/** Chunks go to the top of dist/, data files into the same folders as in src/. */
const filesBesideSources: Plugin = {
  name: 'files-beside-sources',
  transform(code, id) {
    if (!id.startsWith(source) || !code.includes('import.meta.url')) return null
    const place = JSON.stringify(`./${relative(source, id).replace(/\.ts$/, '.js')}`)
    return { code: code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`), map: null }
  },
}

/** Source maps of bundled packages would double the maps, and nobody debugs those packages here. */
const noMapsOfPackages: Plugin = {
  name: 'no-maps-of-packages',
  transform: (code, id) => (id.includes('/node_modules/') ? { code, map: { mappings: '' } } : null),
}

/** Undici's main entry would load everything: mocks, caches, WebSocket. */
const poolOfUndici: Plugin = {
  name: 'pool-of-undici',
  resolveId: (id) => (id === 'undici' ? '\0undici' : null),
  load: (id) =>
    id === '\0undici'
      ? `import api from 'undici/lib/api/index.js'
        import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
        import Pool from 'undici/lib/dispatcher/pool.js'
        Object.assign(Dispatcher.prototype, api)
        export { Pool }`
      : null,
}

/** Modules that Node 20 lacks. A static import would fail before `bin/supported-node.js` can say why. */
const newerParts: Readonly<Record<string, string>> = {
  'node:sqlite': "export const { DatabaseSync } = process.getBuiltinModule('node:sqlite')",
  'node:zlib':
    "export * from 'node:zlib'; export const { zstdDecompressSync } = process.getBuiltinModule('node:zlib')",
}

const newerPartsOfNode: Plugin = {
  name: 'newer-parts-of-node',
  resolveId: (id, importer) => (id in newerParts && importer !== `\0${id}` ? `\0${id}` : null),
  load: (id) => newerParts[id.slice(1)] ?? null,
}

/** Bundles everything except zod, so that an installation is two packages. Zod stays separate because users pass us schemas. */
export async function buildCode(out: string): Promise<void> {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const external = Object.keys({ ...dependencies, ...peerDependencies })
  const bundle = await rolldown({
    input: {
      api: join(source, 'index.ts'),
      main: join(source, 'cli/main.ts'),
      'simulator/server/server-thread': join(source, 'simulator/server/server-thread.ts'),
      'policy/construction-worker': join(source, 'policy/construction-worker.ts'),
      'workers/heartbeat': join(source, 'workers/heartbeat.ts'),
    },
    platform: 'node',
    external: (id) => external.some((name) => id === name || id.startsWith(`${name}/`)),
    // Older versions of Node must be able to parse it, or they could not say that they are too old.
    transform: { target: 'es2022' },
    plugins: [filesBesideSources, newerPartsOfNode, poolOfUndici, noMapsOfPackages],
  })
  const { output } = await bundle.write({
    dir: out,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    sourcemap: true,
    comments: false,
    // Shared code goes into one file: a hundred small ones would take a disk block each.
    codeSplitting: { groups: [{ name: 'shared', test: /\/src\//, minShareCount: 3 }] },
  })
  await bundle.close()
  for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.js.map')) {
      const file = join(out, name)
      writeFileSync(file, JSON.stringify(lineMap(JSON.parse(readFileSync(file, 'utf8')))))
    }
  const chunks = output.filter((one) => one.type === 'chunk')
  for (const { fileName, code } of chunks)
    if (fileName.includes('/') && code.includes('import.meta'))
      throw new Error(`${fileName} reads files beside it, but is not at the top of dist/.`)
  writeFileSync(join(out, 'index.js'), "import '../bin/supported-node.js'\nexport * from './api.js'\n")
  writeFileSync(join(out, 'third-party-licenses.txt'), licenses(chunks))
}

/** The licences of the bundled packages, as they require. */
function licenses(chunks: readonly OutputChunk[]): string {
  const folders = chunks
    .flatMap(({ moduleIds }) => moduleIds)
    .flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? [])
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
    const text = file === undefined ? '' : `\n\n${readFileSync(join(folder, file), 'utf8').trim()}`
    return `${name} ${version} (${license})${text}`
  })
  return `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}
