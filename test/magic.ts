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

function start(
  { env = {}, cwd = process.cwd() }: { env?: Record<string, string>; cwd?: string },
  words: readonly string[],
): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, NO_COLOR: '1', ...env }, maxBuffer: 1 << 26 }
    execFile(process.execPath, [script, ...words], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ code, stdout, stderr })
    })
  })
}
