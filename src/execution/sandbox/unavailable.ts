/** There is no sandbox here, or it does not start. Carries what to do about it. */
export class SandboxUnavailable extends Error {
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
