/** This machine, and not a program, is at fault: there is no result, good or bad. */
export abstract class SandboxFailure extends Error {
  /** What happened, without what to do about it. */
  abstract readonly reason: string
}

/** There is no sandbox here, or it does not start. Carries what to do about it. */
export class SandboxUnavailable extends SandboxFailure {
  override readonly name = 'SandboxUnavailable'
  readonly reason: string

  constructor(reason: string) {
    super(`${reason}\n${remedy}`)
    this.reason = reason
  }
}

const remedy =
  'Model-written programs run only in a sandbox. On Debian or Ubuntu: `sudo apt-get install bubblewrap python3`; ' +
  'in a container, unprivileged user namespaces must be allowed.'

/** The job was not done within the infrastructure's limit. */
export class InfrastructureTimeout extends SandboxFailure {
  override readonly name = 'InfrastructureTimeout'
  readonly reason: string

  constructor(seconds: number) {
    super(`The sandbox job was stopped after ${seconds} s.`)
    this.reason = this.message
  }
}

/** Something outside ended a program: its sandbox was killed, or a system out of memory killed its process. */
export class SandboxLost extends SandboxFailure {
  override readonly name = 'SandboxLost'
  readonly reason = 'A sandbox was killed from outside or did not answer; the machine may be out of memory.'

  constructor() {
    super('A sandbox was killed from outside or did not answer; the machine may be out of memory.')
  }
}
