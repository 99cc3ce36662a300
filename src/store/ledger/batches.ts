/** Small enough not to block other work or the event loop for long. */
const largestBatch = 512

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Groups items added in the same turn of the event loop, or while the previous batch is under way, so that disk or
 * network is waited for once per batch. If a batch fails, it fails for all its items. Batches run one after another,
 * in order.
 */
export class Batches<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>
  #waiting: Waiting<Item, Result>[] = []
  #draining: Promise<void> | undefined

  /** `run` returns one result per item. */
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

  /** Resolves when nothing is waiting. */
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
      // Callers that waited for these may add new items.
      await new Promise(setImmediate)
    }
  }
}
