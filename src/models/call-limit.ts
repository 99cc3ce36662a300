/** Concurrent calls in the paper's experiments. */
export const paperConcurrency = 8

/** Gives the slot back. Safe to call twice. */
export type Release = () => void

interface Waiting {
  readonly priority: number
  start(release: Release): void
}

/**
 * A limit on concurrent calls. When all slots are taken, the caller with the highest priority goes next (for a node:
 * its longest remaining path); among equals, first come, first served.
 */
export class CallLimit {
  readonly limit: number
  #inFlight = 0
  #handingOn = false
  /** In order: the next to start comes first. */
  readonly #queue: Waiting[] = []

  constructor(limit = paperConcurrency) {
    if (!Number.isInteger(limit) || limit < 1)
      throw new RangeError(`A call limit is a whole number of at least 1, not ${limit}.`)
    this.limit = limit
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** A slot, if one is free and nobody waits for it. */
  takeFree(signal?: AbortSignal): Release | undefined {
    const isFree = this.#inFlight < this.limit && this.#queue.length === 0
    return isFree && signal?.aborted !== true ? this.#take() : undefined
  }

  /** Resolves when a slot is free, or to undefined if the signal aborts first. */
  async acquire(priority = 0, signal?: AbortSignal): Promise<Release | undefined> {
    if (signal?.aborted === true) return undefined
    return this.takeFree() ?? this.#wait(priority, signal)
  }

  /** Takes a slot immediately, even if none is free. */
  hold(): Release {
    return this.#take()
  }

  async #wait(priority: number, signal: AbortSignal | undefined): Promise<Release | undefined> {
    const { promise, resolve } = Promise.withResolvers<Release | undefined>()
    const entry: Waiting = { priority, start: resolve }
    const giveUp = () => {
      const place = this.#queue.indexOf(entry)
      if (place >= 0) this.#queue.splice(place, 1)
      resolve(undefined)
    }
    signal?.addEventListener('abort', giveUp, { once: true })
    this.#queue.splice(this.#queue.findLastIndex((other) => other.priority >= priority) + 1, 0, entry)
    const release = await promise
    signal?.removeEventListener('abort', giveUp)
    return release
  }

  #take(): Release {
    this.#inFlight += 1
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#inFlight -= 1
      this.#handOn()
    }
  }

  /**
   * Gives free slots to waiting callers, but only after the ended call's follow-ups have run: a node it makes ready
   * may be more urgent than those already waiting.
   */
  #handOn(): void {
    if (this.#handingOn || this.#queue.length === 0) return
    this.#handingOn = true
    setImmediate(() => {
      this.#handingOn = false
      while (this.#inFlight < this.limit && this.#queue.length > 0) this.#queue.shift()!.start(this.#take())
    })
  }
}

/** The default limit, shared by the whole process. */
export const processCallLimit = new CallLimit()
