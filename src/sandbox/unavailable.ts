import { exitCode, Problem } from '../problem.ts'

/** The machine is at fault, not a program: there is no result, good or bad. */
export class SandboxFailure extends Problem {
  /** What happened, without the remedy. */
  readonly reason: string

  constructor(reason: string, remedy?: { text: string; exitCode: number }) {
    super(remedy === undefined ? reason : `${reason}\n${remedy.text}`, {
      exitCode: remedy?.exitCode ?? exitCode.unavailable,
    })
    this.reason = reason
  }
}

/** There is no sandbox here, or it does not start. Includes the remedy. */
export class SandboxUnavailable extends SandboxFailure {
  constructor(reason: string) {
    super(reason, { text: remedy, exitCode: exitCode.usage })
  }
}

const remedy =
  'Model-written programs run only in a sandbox. On Debian or Ubuntu: `sudo apt-get install bubblewrap python3`; ' +
  'in a container, unprivileged user namespaces must be allowed.'

/** A program was ended from outside: its sandbox was killed, or the system ran out of memory. */
export function sandboxLost(): SandboxFailure {
  return new SandboxFailure(
    'A sandbox was killed from outside or did not answer; the machine may be out of memory.',
  )
}

/** A program ran out of wall-clock time while waiting for a core; it is run again with more time. */
export class ProgramStarved extends SandboxFailure {
  constructor() {
    super('The machine was too busy to run a program: it hit its time limit while waiting for a core.')
  }
}
