// Sandboxes between two programs. Starting one takes fifty milliseconds, a case in one that is there takes a few. What a
// program could leave in it and what keeps it from doing so: docs/sandbox.md, "What programs share".
import type { Sandbox } from './sandbox.ts'

/** A bound on how long programs share a sandbox, against traces that we do not know of. */
const mostCases = 250

export class WarmSandboxes {
  /** Each with the timer that ends it; the one used last comes last. */
  readonly #idle = new Map<Sandbox, NodeJS.Timeout>()
  readonly #most: number
  readonly #idleSeconds: number
  #closed = false

  /** Keeps at most so many, each for so long. */
  constructor(most: number, idleSeconds: number) {
    this.#most = most
    this.#idleSeconds = idleSeconds
  }

  /** One that has just shown that it is well, or undefined. */
  async take(): Promise<Sandbox | undefined> {
    for (;;) {
      // The one used last, so that those not needed any more reach their idle limit.
      const sandbox = [...this.#idle.keys()].at(-1)
      if (sandbox === undefined) return undefined
      this.#remove(sandbox)
      sandbox.keepsProcessAlive(true)
      if (sandbox.isClean && (await sandbox.isAwake())) return sandbox
      await sandbox.close()
    }
  }

  /** Keeps a sandbox that another program may use, and ends any other; resolves when that is done. */
  async give(sandbox: Sandbox): Promise<void> {
    const welcome =
      !this.#closed && sandbox.isClean && sandbox.cases < mostCases && this.#idle.size < this.#most
    if (!welcome) return sandbox.close()
    sandbox.keepsProcessAlive(false)
    const timer = setTimeout(() => this.#retire(sandbox), this.#idleSeconds * 1000)
    this.#idle.set(sandbox, timer.unref())
  }

  /** Ends all that are idle; from now on none is kept. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#idle.keys()].map((sandbox) => this.#retire(sandbox)))
  }

  #retire(sandbox: Sandbox): Promise<void> {
    this.#remove(sandbox)
    return sandbox.close()
  }

  #remove(sandbox: Sandbox): void {
    clearTimeout(this.#idle.get(sandbox))
    this.#idle.delete(sandbox)
  }
}
