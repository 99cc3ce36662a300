import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('../bin/magic.js', import.meta.url))

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command as a user would, in a process of its own. */
export function magic(...words: string[]): Promise<Outcome> {
  return magicWith({}, ...words)
}

/** The same with further environment variables. */
export function magicWith(variables: Record<string, string>, ...words: string[]): Promise<Outcome> {
  return start({ env: variables }, words)
}

/** The same in another folder. */
export function magicIn(cwd: string, ...words: string[]): Promise<Outcome> {
  return start({ cwd }, words)
}

/** The same where a file stands in the place of bubblewrap: `/dev/null` as if there were none. */
export function magicWithBubblewrap(replacement: string, ...words: string[]): Promise<Outcome> {
  const bwrap = '/usr/bin/bwrap'
  return start({ around: [bwrap, '--dev-bind', '/', '/', '--ro-bind', replacement, bwrap, '--'] }, words)
}

function start(
  {
    env = {},
    cwd = process.cwd(),
    around = [],
  }: { env?: Record<string, string>; cwd?: string; around?: readonly string[] },
  words: readonly string[],
): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, NO_COLOR: '1', ...env }, maxBuffer: 1 << 26 }
    const [file, ...rest] = [...around, process.execPath, script, ...words] as [string, ...string[]]
    execFile(file, rest, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ code, stdout, stderr })
    })
  })
}
