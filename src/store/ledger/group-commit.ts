/** So many writes at once keep neither other writers nor the event loop waiting for long. */
const largestBatch = 512

interface Write {
  readonly bytes: number
  readonly apply: () => unknown
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Runs writes in one transaction that is on the disk when this resolves; may run them again if the database was locked. */
type Commit = (work: () => unknown[], bytes: number) => Promise<unknown[]>

/**
 * Writes in transactions. What is asked for in the same turn of the event loop, or while the database is locked, goes into
 * one: the disk is waited for once, not once per write. A transaction that fails, fails for all that is in it.
 */
export class GroupCommit {
  readonly #commit: Commit
  #waiting: Write[] = []
  #draining: Promise<void> | undefined

  constructor(commit: Commit) {
    this.#commit = commit
  }

  /** Resolves once it is on the disk. */
  write<Result>(bytes: number, apply: () => Result): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.#waiting.push({ bytes, apply, resolve: resolve as (result: unknown) => void, reject })
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined
    })
    return promise
  }

  /** Resolves when nothing waits any more. */
  async settled(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining
  }

  async #drain(): Promise<void> {
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, largestBatch)
      const bytes = batch.reduce((sum, write) => sum + write.bytes, 0)
      try {
        const results = await this.#commit(() => batch.map(({ apply }) => apply()), bytes)
        for (const [index, { resolve }] of batch.entries()) resolve(results[index])
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
      // Whoever was waiting for these may have something new to write.
      await new Promise(setImmediate)
    }
  }
}
