// Lends sandboxes to jobs: one that waits from an earlier job, or a fresh one where there is none or where programs may
// write files.
import { availableParallelism } from 'node:os'
import type { Served } from './case.ts'
import { findSandboxHost, type SandboxHost } from './host.ts'
import { infrastructureSeconds } from './limits.ts'
import { Sandbox } from './sandbox.ts'
import { WarmSandboxes } from './warm-sandboxes.ts'

const defaultIdleSeconds = 10

/** The job was not done within the infrastructure's limit. */
export class InfrastructureTimeout extends Error {
  override readonly name = 'InfrastructureTimeout'

  constructor(seconds: number) {
    super(`The sandbox job was stopped after ${seconds} s.`)
  }
}

export interface SandboxJob {
  /** A sandbox for this job alone, until it ends: for programs, unless said otherwise. Throws `SandboxUnavailable`. */
  open(options?: OpenOptions): Promise<Sandbox>
}

export interface OpenOptions {
  readonly writableTmp?: boolean
  readonly serves?: Served
}

export interface SandboxPoolOptions {
  /** Jobs at the same time. More than there are cores only stretches every program's wall-clock time. */
  readonly concurrency?: number
  readonly infrastructureSeconds?: number
  /** How long a sandbox waits for its next job before it is ended. */
  readonly idleSeconds?: number
  readonly findHost?: () => Promise<SandboxHost>
}

export class SandboxPool {
  readonly #concurrency: number
  readonly #seconds: number
  readonly #findHost: () => Promise<SandboxHost>
  readonly #warm: WarmSandboxes
  readonly #waiting: Array<() => void> = []
  #running = 0
  #host: Promise<SandboxHost> | undefined

  constructor(options: SandboxPoolOptions = {}) {
    this.#concurrency = options.concurrency ?? availableParallelism()
    this.#seconds = options.infrastructureSeconds ?? infrastructureSeconds
    this.#warm = new WarmSandboxes(this.#concurrency, options.idleSeconds ?? defaultIdleSeconds)
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
   * Runs a job when there is room; waiting does not count. When this settles, each of its sandboxes is gone, or clean and
   * kept for the next job. Throws what the job throws, `InfrastructureTimeout`, or the signal's reason.
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
        open: async (options = {}) => {
          check()
          const sandbox = this.#open(host, options)
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
      await Promise.allSettled(opened.map(async (sandbox) => this.#warm.give(await sandbox)))
      this.#leave()
    }
  }

  /** Ends the sandboxes that wait for a job. Jobs under way go on; from now on no sandbox is kept after its job. */
  close(): Promise<void> {
    return this.#warm.close()
  }

  async #open(
    host: SandboxHost,
    { writableTmp = false, serves = 'programs' }: OpenOptions,
  ): Promise<Sandbox> {
    const warm = writableTmp ? undefined : await this.#warm.take(serves)
    return warm ?? Sandbox.start(host, { writableTmp, serves })
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
