// Lends sandboxes to jobs: an idle one from an earlier job, or a fresh one if there is none or if programs may write
// files.
import { availableParallelism } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { findSandboxHost, type SandboxHost } from './host.ts'
import { infrastructureSeconds, stretchedSecond } from './limits.ts'
import { Sandbox } from './sandbox.ts'
import { ProgramStarved, SandboxFailure, sandboxLost } from './unavailable.ts'
import { WarmSandboxes } from './warm-sandboxes.ts'

const defaultIdleSeconds = 10
/** Attempts at a job whose sandbox fails; the second and later ones use fresh sandboxes. */
const mostAttempts = 3
const pauseSeconds = 0.3

export interface SandboxJob {
  /** A sandbox for this job alone, until the job ends. Throws `SandboxUnavailable`. */
  open(options?: { readonly writableTmp?: boolean }): Promise<Sandbox>
}

export interface SandboxPoolOptions {
  /** Concurrent jobs. More than there are cores only stretches every program's wall-clock time. */
  readonly concurrency?: number
  readonly infrastructureSeconds?: number
  /** How long a sandbox stays idle before it is ended. */
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

  /** The host's means to make sandboxes. Throws `SandboxUnavailable`. */
  host(): Promise<SandboxHost> {
    // Failures are not cached: what was missing may have been installed since.
    this.#host ??= this.#findHost().catch((problem) => {
      this.#host = undefined
      throw problem
    })
    return this.#host
  }

  /**
   * Runs a job when there is room; waiting does not count against its time. Afterwards each of its sandboxes is gone,
   * or clean and kept for the next job. If a sandbox fails, the job's findings do not count, and it starts again in
   * fresh ones. Throws what the job throws, a `SandboxFailure` if all attempts failed, or the signal's reason.
   */
  async job<T>(signal: AbortSignal | undefined, work: (job: SandboxJob) => Promise<T>): Promise<T> {
    await this.#enter(signal)
    try {
      const host = await this.host()
      let stretch = 1
      for (let attempt = 1; ; attempt += 1) {
        try {
          const open = (writableTmp: boolean) => this.#open(host, attempt > 1, writableTmp, stretch)
          return await this.#attempt(open, this.#seconds * stretch, signal, work)
        } catch (problem) {
          if (!(problem instanceof SandboxFailure)) throw problem
          // Happens at most once: a program that already got more time cannot be starved again.
          const isStarved = problem instanceof ProgramStarved
          if (attempt >= mostAttempts && !isStarved) throw problem
          if (isStarved) stretch = stretchedSecond
        }
        // A machine short of memory or processes may recover in a moment.
        await wait(attempt * pauseSeconds * 1000)
        signal?.throwIfAborted()
      }
    } finally {
      this.#leave()
    }
  }

  async #attempt<T>(
    open: (writableTmp: boolean) => Promise<Sandbox>,
    seconds: number,
    signal: AbortSignal | undefined,
    work: (job: SandboxJob) => Promise<T>,
  ): Promise<T> {
    const opened: Array<Promise<Sandbox>> = []
    let timedOut = false
    const started: Sandbox[] = []
    const check = () => {
      signal?.throwIfAborted()
      if (timedOut) throw new SandboxFailure(`The sandbox job was stopped after ${seconds} s.`)
      if (started.some((sandbox) => sandbox.hasFailed)) throw sandboxLost()
      if (started.some((sandbox) => sandbox.wasStarved)) throw new ProgramStarved()
    }
    // Closing a sandbox ends its cases, so the work ends too; `check` then discards its findings.
    const closeAll = () => Promise.allSettled(opened.map(async (sandbox) => (await sandbox).close()))
    const onAbort = () => void closeAll()
    const timer = setTimeout(() => {
      timedOut = true
      void closeAll()
    }, seconds * 1000)
    signal?.addEventListener('abort', onAbort)
    try {
      const result = await work({
        open: async ({ writableTmp = false } = {}) => {
          check()
          const opening = open(writableTmp)
          opened.push(opening)
          const sandbox = await opening
          started.push(sandbox)
          check()
          return sandbox
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
    }
  }

  /** Ends idle sandboxes. Jobs under way continue; from now on no sandbox is kept after its job. */
  close(): Promise<void> {
    return this.#warm.close()
  }

  async #open(
    host: SandboxHost,
    aFreshOne: boolean,
    writableTmp: boolean,
    stretch: number,
  ): Promise<Sandbox> {
    const warm = writableTmp || aFreshOne ? undefined : await this.#warm.take()
    return warm ?? Sandbox.start(host, writableTmp, stretch)
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

  /** Passes the slot to the job that has waited longest. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running -= 1
    else next()
  }
}
