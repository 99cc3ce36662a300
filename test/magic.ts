import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('../bin/magic.js', import.meta.url))

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** The signal that ended it, if any; only for a separate process. */
  readonly signal?: string
}

export interface CommandLine {
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string | undefined
}

/** Runs a command line like `magic`, in one process per test file that runs all its commands in turn. */
export function magic(...words: string[]): Promise<Outcome> {
  return run({ words, env: {} })
}

/** The same with more environment variables. */
export function magicWith(env: Record<string, string>, ...words: string[]): Promise<Outcome> {
  return run({ words, env })
}

/** The same in another folder. */
export function magicIn(cwd: string, ...words: string[]): Promise<Outcome> {
  return run({ words, env: {}, cwd })
}

/** Runs the command like a user would, in its own process: for tests of how it starts and ends. */
export function magicProcess(
  { env = {}, cwd, around = [] }: Partial<CommandLine> & { readonly around?: readonly string[] },
  ...words: string[]
): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, NO_COLOR: '1', ...env }, maxBuffer: 1 << 26 }
    const [file, ...rest] = [...around, process.execPath, script, ...words] as [string, ...string[]]
    execFile(file, rest, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ code, stdout, stderr, ...(error?.signal && { signal: error.signal }) })
    })
  })
}

/** The same with a file in place of bubblewrap: `/dev/null` as if it were missing. */
export function magicWithBubblewrap(replacement: string, ...words: string[]): Promise<Outcome> {
  const bwrap = '/usr/bin/bwrap'
  const around = [bwrap, '--dev-bind', '/', '/', '--ro-bind', replacement, bwrap, '--']
  return magicProcess({ around }, ...words)
}

let host: ChildProcess | undefined
let last: Promise<unknown> = Promise.resolve()

function run(line: CommandLine): Promise<Outcome> {
  const outcome = last.then(() => {
    host ??= startHost()
    return outcomeOf(host, line)
  })
  last = outcome.catch(() => {})
  return outcome
}

function startHost(): ChildProcess {
  const child = fork(fileURLToPath(new URL('command-host.ts', import.meta.url)), {
    env: { ...process.env, NO_COLOR: '1' },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.once('exit', () => {
    host = undefined
  })
  return child
}

async function outcomeOf(child: ChildProcess, line: CommandLine): Promise<Outcome> {
  const gone = new AbortController()
  const onExit = (code: number | null) =>
    gone.abort(new Error(`\`magic ${line.words.join(' ')}\` ended its process with ${code}.`))
  child.once('exit', onExit)
  try {
    child.send(line)
    const [outcome] = await once(child, 'message', { signal: gone.signal })
    return outcome
  } finally {
    child.off('exit', onExit)
  }
}
