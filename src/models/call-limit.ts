/** Gives its slot back. More than one call does no harm. */
export type Release = () => void

interface Waiting {
  readonly priority: number
  readonly order: number
  start(release: Release): void
  abandoned: boolean
}

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
  /** A binary heap, the next one first. Those who gave up stay until their turn comes. */
  readonly #queue: Waiting[] = []

  constructor(limit = 8) {
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
      push(this.#queue, entry)
    })
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
   * Gives free slots to those who wait, but not before what the ended call sets in motion had its say: a node that becomes
   * ready by it may be more urgent than any that waits already.
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
      const next = pop(this.#queue)
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

function before(a: Waiting, b: Waiting): boolean {
  return a.priority === b.priority ? a.order < b.order : a.priority > b.priority
}

function push(heap: Waiting[], entry: Waiting): void {
  let index = heap.push(entry) - 1
  while (index > 0) {
    const parent = (index - 1) >> 1
    if (!before(entry, heap[parent]!)) break
    heap[index] = heap[parent]!
    index = parent
  }
  heap[index] = entry
}

function pop(heap: Waiting[]): Waiting | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (first === undefined || last === undefined || heap.length === 0) return first
  let index = 0
  for (;;) {
    let child = 2 * index + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1
    if (!before(heap[child]!, last)) break
    heap[index] = heap[child]!
    index = child
  }
  heap[index] = last
  return first
}
