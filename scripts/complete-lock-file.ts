// npm run lock: with a registry mirror that carries only some platforms' packages, npm leaves the others out of the lock
// file, and `npm ci` then rejects it. This adds the missing ones, with the platform taken from the package's name, so that
// the lock file installs everywhere.
import { readFileSync, writeFileSync } from 'node:fs'

interface LockedPackage {
  version?: string
  optional?: boolean
  dev?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

const path = new URL('../package-lock.json', import.meta.url)
const lock: { packages: Record<string, LockedPackage> } = JSON.parse(readFileSync(path, 'utf8'))

const systems = [
  'android',
  'darwin',
  'linux',
  'win32',
  'freebsd',
  'netbsd',
  'openbsd',
  'sunos',
  'aix',
  'openharmony',
]
const processors = [
  'arm64',
  'x64',
  'ia32',
  'arm',
  'riscv64',
  's390x',
  'ppc64',
  'loong64',
  'mips64el',
  'wasm32',
]

let added = 0
for (const [parentPath, parent] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const nested = `${parentPath}/node_modules/${name}`
    const top = `node_modules/${name}`
    if (nested in lock.packages || top in lock.packages) continue
    // Without the registry, only exact versions are known.
    const exact = version.replace(/^[~^]/, '')
    const words = name.split(/[^a-z0-9]+/)
    const os = name === 'fsevents' ? ['darwin'] : systems.filter((system) => words.includes(system))
    const cpu = processors.filter((processor) => words.includes(processor))
    lock.packages[top] = {
      version: exact,
      ...(cpu.length > 0 && { cpu }),
      ...(parent.dev === true && { dev: true }),
      ...(words.includes('musl') && { libc: ['musl'] }),
      optional: true,
      ...(os.length > 0 && { os }),
    }
    added += 1
  }
}
const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
lock.packages = Object.fromEntries(sorted)
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`Added ${added} packages of other platforms.`)
