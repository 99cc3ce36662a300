/** Gives the slot back. Calling it twice does no harm. */
export type Release = () => void

interface Waiting {
  readonly priority: number
  readonly order: number
  start(release: Release): void
  abandoned: boolean
}

/** Calls in flight in the paper's experiments. */
export const paperConcurrency = 8

/**
 * A limit on calls in flight. When all slots are taken, the caller with the highest priority goes next (for a node: its
 * longest remaining path), and among equals the one that came first.
 */
export class CallLimit {
  #limit: number
  #inFlight = 0
  #waiting = 0
  #arrivals = 0
  #handingOn = false
  /** The next one last. Those who gave up stay until their turn comes. */
  readonly #queue: Waiting[] = []

  constructor(limit = paperConcurrency) {
    this.#limit = checked(limit)
  }

  get limit(): number {
    return this.#limit
  }

  set limit(limit: number) {
    this.#limit = checked(limit)
    this.#startNext()
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Resolves when a slot is free, or to nothing when the signal is aborted first. */
  acquire(priority = 0, signal?: AbortSignal): Promise<Release | undefined> {
    if (signal?.aborted === true) return Promise.resolve(undefined)
    if (this.#inFlight < this.#limit && this.#waiting === 0) return Promise.resolve(this.#take())
    return new Promise((resolve) => {
      const giveUp = () => {
        entry.abandoned = true
        this.#waiting -= 1
        resolve(undefined)
      }
      const entry: Waiting = {
        priority,
        order: this.#arrivals,
        abandoned: false,
        start: (release) => {
          signal?.removeEventListener('abort', giveUp)
          this.#waiting -= 1
          resolve(release)
        },
      }
      this.#arrivals += 1
      this.#waiting += 1
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#enqueue(entry)
    })
  }

  #enqueue(entry: Waiting): void {
    let [low, high] = [0, this.#queue.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (isAfter(this.#queue[middle]!, entry)) low = middle + 1
      else high = middle
    }
    this.#queue.splice(low, 0, entry)
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
   * Gives free slots to those who wait, but only after whatever the ended call triggers: a node that it makes ready may be
   * more urgent than any that waits already.
   */
  #handOn(): void {
    if (this.#handingOn || this.#waiting === 0) return
    this.#handingOn = true
    setImmediate(() => {
      this.#handingOn = false
      this.#startNext()
    })
  }

  #startNext(): void {
    while (this.#inFlight < this.#limit) {
      const next = this.#queue.pop()
      if (next === undefined) return
      if (!next.abandoned) next.start(this.#take())
    }
  }
}

/** The limit that everything in this process shares unless it is given another. */
export const processCallLimit = new CallLimit()

function checked(limit: number): number {
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError(`A call limit is a whole number of at least 1, not ${limit}.`)
  return limit
}

/** Whether `a` goes after `b`. */
function isAfter(a: Waiting, b: Waiting): boolean {
  return a.priority === b.priority ? a.order > b.order : a.priority < b.priority
}
