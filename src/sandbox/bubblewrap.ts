// The command line that makes a sandbox. docs/decisions/2026-11-15-sandbox-shape.md explains each flag.
import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Interpreter } from './interpreter.ts'
import { SandboxUnavailable } from './unavailable.ts'

export interface Bubblewrap {
  readonly path: string
  readonly version: string
  /** Since 0.8; the filters forbid new namespaces anyway. */
  readonly canDisableUserNamespaces: boolean
}

/** Descriptors of the sandbox's first process. Those from `firstFile` on carry the runner's source files. */
export const descriptor = {
  commands: 0,
  errors: 2,
  report: 3,
  /** Connects a sandbox for programs with the one for their tests. */
  link: 4,
  info: 5,
  filter: 6,
  firstFile: 7,
} as const

export const runnerFolder = '/run/runner'

export interface SandboxCommand {
  readonly file: string
  readonly arguments: readonly string[]
}

export interface SandboxShape {
  readonly interpreter: Interpreter
  readonly bubblewrap: Bubblewrap
  /** Names of the runner's files; the first is the entry point. */
  readonly files: readonly string[]
  /** Whether programs may write to /tmp, up to 16 MiB. Evaluation does not need it. */
  readonly writableTmp: boolean
  /**
   * If run as root: `setpriv` and the unused user id to switch to, so that per-user limits apply and root's files are
   * unreadable.
   */
  readonly become: { readonly setpriv: string; readonly uid: number } | undefined
}

const tmpBytes = 16 * 2 ** 20
const nobody = '65534'
const devices = ['null', 'zero', 'full', 'random', 'urandom']

export function sandboxCommand({
  interpreter,
  bubblewrap,
  files,
  writableTmp,
  become,
}: SandboxShape): SandboxCommand {
  const bwrap = [
    ...[
      '--unshare-all',
      '--unshare-user',
      ...(bubblewrap.canDisableUserNamespaces ? ['--disable-userns'] : []),
    ],
    // The zygote needs it to give every program its own process numbers; no program has it.
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--cap-add', 'CAP_SYS_ADMIN'],
    ...['--uid', nobody, '--gid', nobody, '--hostname', 'sandbox'],
    ...[
      '--clearenv',
      '--setenv',
      'PATH',
      '/usr/bin',
      '--setenv',
      'LANG',
      'C.UTF-8',
      '--setenv',
      'HOME',
      '/tmp',
    ],
    // A single arena: each further one reserves 64 MiB of address space, which the memory limit would count.
    ...['--setenv', 'MALLOC_ARENA_MAX', '1'],
    // The order of a set of strings must not vary between runs.
    ...['--setenv', 'PYTHONHASHSEED', '0'],
    ...interpreter.binds.flatMap(([from, to]) => ['--ro-bind', from, to]),
    ...interpreter.links.flatMap(([target, path]) => ['--symlink', target, path]),
    // Not `--dev`, which adds a file system of terminals that stays writable.
    ...['--tmpfs', '/dev', ...devices.flatMap((name) => ['--dev-bind-try', `/dev/${name}`, `/dev/${name}`])],
    ...['--size', String(tmpBytes), '--tmpfs', '/tmp', ...(writableTmp ? [] : ['--remount-ro', '/tmp'])],
    ...files.flatMap((file, index) => [
      '--file',
      String(descriptor.firstFile + index),
      join(runnerFolder, file),
    ]),
    // Last, since nothing can be added after this.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', '/tmp', '--seccomp', String(descriptor.filter), '--info-fd', String(descriptor.info)],
    ...['--', interpreter.executable, '-B', '-S', '-s', join(runnerFolder, files[0]!)],
  ]
  if (become === undefined) return { file: bubblewrap.path, arguments: bwrap }
  const drop = [`--reuid=${become.uid}`, `--regid=${become.uid}`, '--clear-groups', '--no-new-privs']
  return { file: become.setpriv, arguments: [...drop, bubblewrap.path, ...bwrap] }
}

export async function findBubblewrap(searchPath: string): Promise<Bubblewrap | undefined> {
  const path = findProgram('bwrap', searchPath)
  if (path === undefined) return undefined
  const asked = promisify(execFile)(path, ['--version'], { env: {}, timeout: 60_000 })
  const { stdout } = await asked.catch(({ code, signal }) => {
    throw new SandboxUnavailable(
      `bubblewrap does not start: \`${path} --version\` ended with ${code ?? signal}.`,
    )
  })
  const [, version = '0', major = '0', minor = '0'] = /((\d+)\.(\d+)\S*)/.exec(stdout) ?? []
  return { path, version, canDisableUserNamespaces: Number(major) > 0 || Number(minor) >= 8 }
}

export function findProgram(name: string, searchPath: string): string | undefined {
  const folders = [
    '/usr/bin',
    '/bin',
    '/usr/local/bin',
    ...searchPath.split(':').filter((at) => at.startsWith('/')),
  ]
  return folders
    .map((folder) => join(folder, name))
    .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false)
}
