// Which Python runs in the sandbox, and which host files it needs. Determined by running candidates.
import { execFile } from 'node:child_process'
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Architecture } from './syscalls.ts'

export interface Interpreter {
  readonly executable: string
  readonly version: string
  readonly architecture: Architecture
  /** Files and folders to show read-only: [on the host, in the sandbox]. */
  readonly binds: ReadonlyArray<readonly [string, string]>
  /** Links in the host's root folder: [target, path], such as /lib → usr/lib. */
  readonly links: ReadonlyArray<readonly [string, string]>
}

interface Answer {
  executable: string
  version: [number, number, number]
  machine: string
  folders: string[]
  libraries: string[]
}

// Imports what the runner needs and what loads shared libraries, then prints where everything came from.
const question = `
import json, os, sys, sysconfig
import ctypes, decimal, resource, select
for name in ("bz2", "hashlib", "lzma", "readline", "sqlite3", "ssl", "uuid", "zlib"):
    try:
        __import__(name)
    except ImportError:
        pass
os.pidfd_open
with open("/proc/self/maps") as maps:
    mapped = {line.split(maxsplit=5)[5].strip() for line in maps if ".so" in line and "/" in line}
print(json.dumps({
    "executable": os.path.realpath(sys.executable),
    "version": sys.version_info[:3],
    "machine": os.uname().machine,
    "folders": sorted({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}),
    "libraries": sorted(mapped),
}))
`

const oldestVersion = [3, 10] as const
const loaders = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1']
const rootLinks = ['/lib', '/lib64']

/** Returns the first suitable candidate, or the reason why each is not. */
export async function findInterpreter(
  searchPath: string,
  dropsPrivileges: boolean,
): Promise<Interpreter | { readonly reasons: readonly string[] }> {
  const folders = [
    '/usr/bin',
    '/usr/local/bin',
    ...searchPath.split(':').filter((folder) => folder.startsWith('/')),
  ]
  const reasons: string[] = []
  for (const candidate of new Set(folders.map((folder) => join(folder, 'python3')))) {
    if (!isFile(candidate)) continue
    const found = await ask(candidate, dropsPrivileges)
    if (typeof found !== 'string') return found
    reasons.push(`${candidate}: ${found}`)
  }
  return { reasons: reasons.length > 0 ? reasons : ['no python3 found'] }
}

async function ask(candidate: string, dropsPrivileges: boolean): Promise<Interpreter | string> {
  let answer: Answer
  try {
    const { stdout } = await promisify(execFile)(candidate, ['-I', '-B', '-c', question], {
      env: {},
      timeout: 60_000,
    })
    answer = JSON.parse(stdout) as Answer
  } catch (problem) {
    return `did not answer (${firstLine(problem)})`
  }
  const version = answer.version.join('.')
  if (answer.version[0] !== oldestVersion[0] || answer.version[1] < oldestVersion[1]) {
    return `is Python ${version}, ${oldestVersion.join('.')} or newer is needed`
  }
  if (answer.machine !== 'x86_64' && answer.machine !== 'aarch64')
    return `runs on ${answer.machine}, which has no filter`

  const stdlib = answer.folders.map((folder) => realpathSync(folder))
  const libraries = answer.libraries
    .map((library) => dirname(library))
    .filter((folder) => !stdlib.some((known) => folder === known || folder.startsWith(`${known}/`)))
  const shown = [...new Set([answer.executable, ...stdlib, ...libraries])]
  const closed = dropsPrivileges ? shown.find((path) => !openToAll(path)) : undefined
  if (closed !== undefined) return `needs ${closed}, which other users may not read`
  return {
    executable: answer.executable,
    version,
    architecture: answer.machine,
    binds: [...shown.map((path) => [path, path] as const), ...loaderBinds()],
    links: rootLinks.flatMap((path) => (isLink(path) ? [[readlinkSync(path), path] as const] : [])),
  }
}

/** The dynamic loader, at the path where executables look for it. */
function loaderBinds(): Array<readonly [string, string]> {
  return loaders
    .filter(isFile)
    .map((loader) => [realpathSync(loader), join(realpathSync(dirname(loader)), basename(loader))] as const)
}

/** Whether an unprivileged user can reach and read a path, unlike a Python under /root. */
function openToAll(path: string): boolean {
  const isOpen = (at: string, bits: number) => (statSync(at).mode & bits) === bits
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) {
    if (!isOpen(folder, 0o001)) return false
  }
  return isOpen(path, statSync(path).isDirectory() ? 0o005 : 0o004)
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

function firstLine(problem: unknown): string {
  return String(problem instanceof Error ? problem.message : problem).split('\n')[0]!
}
