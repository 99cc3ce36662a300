// Idle sandboxes between two programs. Starting one takes fifty milliseconds, a case in an existing one a few. What a
// program could leave behind, and what prevents it: docs/sandbox.md, "What programs share".
import type { Sandbox } from './sandbox.ts'

/** Limits how long programs share a sandbox, in case they leave traces we do not know of. */
const mostCases = 250

export class WarmSandboxes {
  /** Each with the timer that ends it; the most recently used comes last. */
  readonly #idle = new Map<Sandbox, NodeJS.Timeout>()
  readonly #most: number
  readonly #idleSeconds: number
  #closed = false

  /** Keeps at most `most` sandboxes, each for `idleSeconds`. */
  constructor(most: number, idleSeconds: number) {
    this.#most = most
    this.#idleSeconds = idleSeconds
  }

  /** A sandbox that is verified to work, or undefined. */
  async take(): Promise<Sandbox | undefined> {
    for (;;) {
      // The most recently used, so that surplus ones reach their idle limit.
      const sandbox = [...this.#idle.keys()].at(-1)
      if (sandbox === undefined) return undefined
      this.#remove(sandbox)
      sandbox.keepsProcessAlive(true)
      if (sandbox.isClean && (await sandbox.isAwake())) return sandbox
      await sandbox.close()
    }
  }

  /** Keeps a sandbox that another program may use; closes it otherwise. Resolves when done. */
  async give(sandbox: Sandbox): Promise<void> {
    const welcome =
      !this.#closed && sandbox.isClean && sandbox.cases < mostCases && this.#idle.size < this.#most
    if (!welcome) return sandbox.close()
    sandbox.keepsProcessAlive(false)
    const timer = setTimeout(() => this.#retire(sandbox), this.#idleSeconds * 1000)
    this.#idle.set(sandbox, timer.unref())
  }

  /** Ends all idle sandboxes; from now on none is kept. */
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
