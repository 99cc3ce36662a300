// What this machine offers for making sandboxes, determined once per process.
import { type Bubblewrap, findBubblewrap, findProgram } from './bubblewrap.ts'
import { findInterpreter, type Interpreter } from './interpreter.ts'
import { SandboxUnavailable } from './unavailable.ts'

export interface SandboxHost {
  readonly bubblewrap: Bubblewrap
  readonly interpreter: Interpreter
  /** If run as root, the user to switch to: a different one for each concurrent sandbox. */
  nextUser(): { readonly setpriv: string; readonly uid: number } | undefined
}

// Unlikely to be in use: ids of people, services and container sub-ids are far lower or far higher.
const firstUid = 200_000
const uidCount = 50_000

/** Throws `SandboxUnavailable`, saying what to install. */
export async function findSandboxHost(searchPath = process.env['PATH'] ?? ''): Promise<SandboxHost> {
  if (process.platform !== 'linux')
    throw new SandboxUnavailable(`bubblewrap needs Linux, this is ${process.platform}.`)
  const bubblewrap = await findBubblewrap(searchPath)
  if (bubblewrap === undefined) throw new SandboxUnavailable('bubblewrap (bwrap) is not installed.')
  const isRoot = process.getuid!() === 0
  const setpriv = findProgram('setpriv', searchPath)
  if (isRoot && setpriv === undefined) {
    throw new SandboxUnavailable('As root, setpriv (package util-linux) is needed to drop privileges.')
  }
  const interpreter = await findInterpreter(searchPath, isRoot)
  if ('reasons' in interpreter) {
    throw new SandboxUnavailable(`No Python for the sandbox. ${interpreter.reasons.join('; ')}.`)
  }
  let started = process.pid
  return {
    bubblewrap,
    interpreter,
    nextUser: () => (isRoot ? { setpriv: setpriv!, uid: firstUid + (started++ % uidCount) } : undefined),
  }
}
