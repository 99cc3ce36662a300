/** So many at once keep neither others nor the event loop waiting for long. */
const largestBatch = 512

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Does together what is asked for in the same turn of the event loop, or while the batch before is under way: the disk or the
 * network is waited for once, not once per item. A batch that fails, fails for all that is in it. Batches come one after the
 * other, in order.
 */
export class Batches<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>
  #waiting: Waiting<Item, Result>[] = []
  #draining: Promise<void> | undefined

  /** `run` gives a result per item. */
  constructor(run: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#run = run
  }

  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.#waiting.push({ item, resolve, reject })
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
      try {
        const results = await this.#run(batch.map(({ item }) => item))
        for (const [index, { resolve }] of batch.entries()) resolve(results[index]!)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
      // Whoever was waiting for these may have something new.
      await new Promise(setImmediate)
    }
  }
}
