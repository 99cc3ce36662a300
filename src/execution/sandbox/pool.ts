// Lends sandboxes to jobs. A sandbox serves all cases of one program and nobody else's: the next program finds no
// trace of this one in the runner's memory.
import { availableParallelism } from 'node:os'
import { findSandboxHost, type SandboxHost } from './host.ts'
import { infrastructureSeconds } from './limits.ts'
import { Sandbox } from './sandbox.ts'

/** The job was not done within the infrastructure's limit. */
export class InfrastructureTimeout extends Error {
  override readonly name = 'InfrastructureTimeout'

  constructor(seconds: number) {
    super(`The sandbox job was stopped after ${seconds} s.`)
  }
}

export interface SandboxJob {
  /** A fresh sandbox, gone when the job ends. Throws `SandboxUnavailable`. */
  open(options?: { readonly writableTmp?: boolean }): Promise<Sandbox>
}

export interface SandboxPoolOptions {
  /** Jobs at the same time. More than there are cores only stretches every program's wall-clock time. */
  readonly concurrency?: number
  readonly infrastructureSeconds?: number
  readonly findHost?: () => Promise<SandboxHost>
}

export class SandboxPool {
  readonly #concurrency: number
  readonly #seconds: number
  readonly #findHost: () => Promise<SandboxHost>
  readonly #waiting: Array<() => void> = []
  #running = 0
  #host: Promise<SandboxHost> | undefined

  constructor(options: SandboxPoolOptions = {}) {
    this.#concurrency = options.concurrency ?? availableParallelism()
    this.#seconds = options.infrastructureSeconds ?? infrastructureSeconds
    this.#findHost = options.findHost ?? findSandboxHost
  }

  /** What there is to make sandboxes with. Throws `SandboxUnavailable`. */
  host(): Promise<SandboxHost> {
    // What was missing may have been installed since: a failure is not kept.
    this.#host ??= this.#findHost().catch((problem) => {
      this.#host = undefined
      throw problem
    })
    return this.#host
  }

  /**
   * Runs a job when there is room; waiting does not count. Whatever happens, its sandboxes are gone when this settles.
   * Throws what the job throws, `InfrastructureTimeout`, or the signal's reason.
   */
  async job<T>(signal: AbortSignal | undefined, work: (job: SandboxJob) => Promise<T>): Promise<T> {
    await this.#enter(signal)
    const opened: Array<Promise<Sandbox>> = []
    let timedOut = false
    const check = () => {
      signal?.throwIfAborted()
      if (timedOut) throw new InfrastructureTimeout(this.#seconds)
    }
    // A sandbox that closes ends its cases, so the work comes to its end too, on facts that no longer matter.
    const closeAll = () => Promise.allSettled(opened.map(async (sandbox) => (await sandbox).close()))
    const onAbort = () => void closeAll()
    const timer = setTimeout(() => {
      timedOut = true
      void closeAll()
    }, this.#seconds * 1000)
    signal?.addEventListener('abort', onAbort)
    try {
      const host = await this.host()
      const result = await work({
        open: async ({ writableTmp = false } = {}) => {
          check()
          const sandbox = Sandbox.start(host, { writableTmp })
          opened.push(sandbox)
          const started = await sandbox
          check()
          return started
        },
      })
      check()
      return result
    } catch (problem) {
      check()
      throw problem
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      await closeAll()
      this.#leave()
    }
  }

  async #enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    if (this.#running < this.#concurrency) {
      this.#running += 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(signal!.reason)
      }
      this.#waiting.push(enter)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** The place goes to who waits longest, without being free in between. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running -= 1
    else next()
  }
}
